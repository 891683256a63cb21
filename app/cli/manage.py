"""The terminal's commands around a chat: hardware, engines, models, chats, settings."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.cli.output import Output, size, table
from app.core.export import as_json, as_markdown
from app.core.models import ModelEntry
from app.core.settings import fields, section_of
from app.services.answers import wishes_of
from app.wiring import Core, hardware
from engines.errors import EngineError
from engines.gguf_header import read_header
from engines.planner import Drafter, check, make_plan
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


def manage_models(core: Core, args: argparse.Namespace, out: Output) -> int:
    library = core.library
    if args.verb == "list":
        found = [_listed(core, entry) for entry in library.entries()]
        out.value(found, lambda: table([*map(_model_row, found), *_drafter_rows(core)]))
    elif args.verb == "show":
        described = _described(core, library.find(args.what))
        out.value(described, lambda: table([(k, _cell(v)) for k, v in described.items()]))
    elif args.verb == "fit":
        settings = core.settings.read()
        entry = library.find(args.what)
        header = library.header(entry)
        computer = hardware()
        path = library.drafter_for(entry)
        drafter = Drafter(path, read_header(path)) if path else None
        plan = make_plan(entry.path, header, computer, wishes_of(settings), drafter)
        fit = check(header, computer, plan, drafter.header if drafter else None)
        out.value(asdict(fit), lambda: f"{fit.verdict}: {fit.reason}")
    elif args.verb == "import":
        entry = library.add(Path(args.what))
        targets = [it.name for it in library.drafts_for(entry)] if entry.drafts else []
        value = {**_described(core, entry), "drafts_for": targets}
        out.value(value, lambda: _added_in_words(entry, targets))
    else:
        entry = library.remove(args.what)
        out.value({"removed": entry.id}, lambda: f"{entry.id} is off the list; {entry.path} stays.")
    return 0


def manage_chats(core: Core, args: argparse.Namespace, out: Output) -> int:
    chats = core.chats
    if args.verb in ("list", "search"):
        found = chats.search(" ".join(args.what)) if args.verb == "search" else chats.chats()
        out.value(
            [asdict(chat) for chat in found],
            lambda: table([(c.id[:8], _when(c.updated), c.title) for c in found]),
        )
        return 0
    chat = chats.chat(args.what)
    path = chats.path(chat.id)
    if args.verb == "rm":
        chats.delete(chat.id)
        core.states.forget(chat.id)
        out.value({"removed": chat.id}, lambda: f"Deleted “{chat.title}”.")
    elif args.verb == "export" and args.format == "json":
        print(as_json(chat, chats.messages(chat.id)))
    elif args.verb == "export":
        out.value({"markdown": as_markdown(chat, path)}, lambda: as_markdown(chat, path))
    else:
        out.value(
            {**asdict(chat), "messages": [asdict(message) for message in path]},
            lambda: as_markdown(chat, path),
        )
    return 0


def manage_settings(core: Core, args: argparse.Namespace, out: Output) -> int:
    settings = core.settings.read()
    if args.verb == "set":
        settings = settings.changed(args.what, args.value)
        core.settings.write(settings)
    values = settings.model_dump()
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
        rows = [(str(d["name"]), _cell(d["value"]), str(d["description"])) for d in described]
        out.value(described, lambda: table(rows))
        return 0
    value = getattr(settings.changed(args.what, values.get(args.what)), args.what)
    out.value({"name": args.what, "value": value}, lambda: _cell(value))
    return 0


def _listed(core: Core, entry: ModelEntry) -> dict[str, Any]:
    """A row of the list; a file that has gone or is damaged keeps its row, with the reason."""
    try:
        return _described(core, entry)
    except EngineError as error:
        return {"id": entry.id, "name": entry.name, "path": str(entry.path), "error": str(error)}


def _described(core: Core, entry: ModelEntry) -> dict[str, Any]:
    header = core.library.header(entry)
    drafter = core.library.drafter_for(entry)
    kind = "drafter" if drafter else "none" if header.mtp == "drafter" else header.mtp
    return {
        "id": entry.id,
        "name": entry.name,
        "repo": None,
        "files": [path.name for path in (entry.path, drafter) if path],
        "size_bytes": header.size_bytes,
        "architecture": header.architecture,
        "parameters": header.parameters,
        "quantisation": header.quantisation,
        "context_max": header.context_max,
        "mtp": {"kind": kind, "ready": kind != "none"},
        "vision": False,
        "verified": False,
        "path": str(entry.path),
    }


def _added_in_words(entry: ModelEntry, targets: list[str]) -> str:
    added = f"Added {entry.name} as {entry.id}"
    return f"{added}; it guesses ahead for {', '.join(targets)}." if targets else f"{added}."


def _model_row(model: dict[str, Any]) -> tuple[str, ...]:
    if "error" in model:
        return model["id"], "", "", model["error"]
    return model["id"], size(model["size_bytes"]), model["quantisation"], model["name"]


def _drafter_rows(core: Core) -> list[tuple[str, ...]]:
    """They are nothing to chat with, so only people see them below the models."""
    rows: list[tuple[str, ...]] = []
    for entry in core.library.drafters():
        id_, file_size, quantisation, name = _model_row(_listed(core, entry))
        rows.append((id_, file_size, quantisation, f"a drafter: {name}"))
    return rows


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_cell(part)}" for key, part in value.items())
    return str(value)


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).astimezone().strftime("%Y-%m-%d %H:%M")
