"""The terminal's commands around a chat: hardware, engines, settings."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from app.cli.output import Output, size, table
from app.core.settings import fields, section_of
from app.wiring import Core, hardware
from engines.registry import statuses


def show_hardware(out: Output) -> int:
    found = hardware()
    states = statuses()
    value = {**asdict(found), "engines": [asdict(state) for state in states]}

    def human() -> str:
        cpu, memory = found.cpu, found.memory
        limit = f", limited to {size(memory.limit_bytes)}" if memory.limit_bytes else ""
        cores = (
            f"{cpu.physical_cores} physical, {cpu.logical_cores} logical, "
            f"{cpu.usable_threads} for Hearth"
        )
        rows = [
            ("System", found.os),
            ("Processor", cpu.name),
            ("Cores", cores),
            ("Features", " ".join(cpu.features)),
            ("Memory", f"{size(memory.available_bytes)} free of {size(memory.total_bytes)}{limit}"),
        ]
        for gpu in found.gpus:
            note = "" if gpu.usable else f": {gpu.why_not}"
            rows.append(("Graphics", f"{gpu.name}, {size(gpu.total_bytes)}{note}"))
        if not found.gpus:
            rows.append(("Graphics", "no graphics processor found; models run on the processor"))
        rows += [("Note", note) for note in found.notes]
        for state in states:
            rows.append(
                (f"Engine {state.name}", "ready" if state.available else state.why_not or "")
            )
        return table(rows)

    out.value(value, human)
    return 0


def list_engines(out: Output) -> int:
    states = statuses()
    out.value(
        [asdict(state) for state in states],
        lambda: table(
            [(s.name, "ready" if s.available else "not here", s.why_not or "") for s in states]
        ),
    )
    return 0


def manage_settings(core: Core, args: argparse.Namespace, out: Output) -> int:
    settings = core.settings.read()
    if args.verb == "set":
        settings = settings.changed(args.what, args.value)
        core.settings.write(settings)
    values = settings.values()
    if args.verb == "list":
        described = [
            {
                "name": name,
                "value": values[name],
                "default": field.default,
                "section": section_of(field),
                "description": field.description,
            }
            for name, field in fields().items()
        ]
        rows = [(str(d["name"]), cell(d["value"]), str(d["description"])) for d in described]
        out.value(described, lambda: table(rows))
        return 0
    value = getattr(settings.changed(args.what, values.get(args.what)), args.what)
    out.value({"name": args.what, "value": value}, lambda: cell(value))
    return 0


def cell(value: Any) -> str:
    """A value of a table, for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {cell(part)}" for key, part in value.items())
    return str(value)
