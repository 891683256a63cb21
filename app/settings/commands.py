"""The commands `hearth hardware`, `hearth settings` and `hearth open`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from app.base.errors import SettingsInvalid
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, labelled, size, table
from app.settings.services import require_usable
from app.settings.values.fields import Settings, fields, section_of
from engines.cancel import CancelToken
from engines.errors import EngineUnavailable, UserError
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.runtime.services.device_trials import DeviceState
    from app.wiring.app import App

_STATES = {
    "works": N_("works"),
    "untried": N_("is tried before its first use"),
    "off": N_("switched off"),
}


def show_hardware(app: App, args: argparse.Namespace, out: Output) -> int:
    """Print hardware, devices and engines, after trying or switching off a requested device."""
    if args.tried is not None:
        out.note(N_("Trying {tried}; a driver can take minutes the first time.", tried=args.tried))
        app.devices.try_again(args.tried, CancelToken())
    elif args.off is not None:
        app.devices.switch_off(args.off)
    hardware = app.detect_hardware()
    states = app.availability()
    devices, fault = _devices(app)
    value = {
        **asdict(hardware),
        "devices": [
            asdict(device) | {"tried": device.tried, "ok": device.ok} for device in devices
        ],
        "engines": [asdict(state) for state in states],
    }

    def human() -> str:
        cpu, memory = hardware.cpu, hardware.memory
        limit = (
            N_(", limited to {limit_bytes}", limit_bytes=size(memory.limit_bytes))
            if memory.limit_bytes
            else ""
        )
        cores = N_(
            "{physical_cores} physical, {logical_cores} logical, {usable_threads} for Hearth",
            physical_cores=cpu.physical_cores,
            logical_cores=cpu.logical_cores,
            usable_threads=cpu.usable_threads,
        )
        rows = [
            (N_("System"), hardware.os),
            (N_("Processor"), cpu.name),
            (N_("Cores"), cores),
            (N_("Features"), " ".join(cpu.features)),
            (
                N_("Memory"),
                N_(
                    "{available_bytes} free of {total_bytes}{limit}",
                    available_bytes=size(memory.available_bytes),
                    total_bytes=size(memory.total_bytes),
                    limit=limit,
                ),
            ),
        ]
        for gpu in hardware.gpus:
            card = N_("{name}, {size}", name=gpu.name, size=size(gpu.total_bytes))
            rows.append((N_("Graphics"), joined(": ", (card, "" if gpu.usable else gpu.why_not))))
        if not hardware.gpus:
            rows.append(
                (N_("Graphics"), N_("no graphics processor found; models run on the processor"))
            )
        for device in devices:
            memory_of_device = N_(
                "{free} free of {total_bytes}",
                free=size(device.free_bytes),
                total_bytes=size(device.total_bytes),
            )
            device_text = N_(
                "{description}, {memory}: {state}",
                description=device.description,
                memory=memory_of_device,
                state=_STATES.get(device.state, device.why_not),
            )
            rows.append((N_("Device {name}", name=device.name), device_text))
        rows += [(N_("Note"), note) for note in hardware.notes]
        for state in states:
            why_not = state.why_not or (fault if state.name == "llamacpp" else "")
            rows.append((N_("Engine {name}", name=state.name), why_not or N_("ready")))
        return labelled(rows)

    out.value(value, human)
    return 0


def _devices(app: App) -> tuple[tuple[DeviceState, ...], str]:
    """Return llama.cpp's devices with the processor, and "" or the reason why it cannot load."""
    try:
        return app.devices.list(), ""
    except EngineUnavailable as error:
        return (), error.why


def _list(app: App, _: argparse.Namespace, out: Output) -> int:
    values = app.settings.read().values()
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
    rows = [(name, cell(values[name]), field.description) for name, field in fields().items()]
    out.value(described, lambda: table(rows))
    return 0


def _get(app: App, args: argparse.Namespace, out: Output) -> int:
    _show_setting(app.settings.read(), args.name, out)
    return 0


def _set(app: App, args: argparse.Namespace, out: Output) -> int:
    settings = app.settings.read().changed(args.name, args.value)
    require_usable(
        args.name,
        getattr(settings, args.name),
        lambda: [device.name for device in _devices(app)[0]],
        partial(_require_model, app, args.name),
        settings,
    )
    app.settings.write(settings)
    _show_setting(settings, args.name, out)
    return 0


def _show_setting(settings: Settings, name: str, out: Output) -> None:
    """Print the value of a setting. Raises SettingsInvalid if there is no such setting."""
    value = getattr(settings.changed(name, settings.values().get(name)), name)
    out.value({"name": name, "value": value}, lambda: cell(value))


def change_settings(app: App, values: Mapping[str, object]) -> Mapping[str, object]:
    """Change several settings in one write; return the changes."""
    settings = app.settings.read()
    for name, value in values.items():
        settings = settings.changed(name, value)
    if values:
        app.settings.write(settings)
    return values


def _require_model(app: App, setting: str, name: str) -> None:
    """Check that a model is on this computer and can do what the setting needs.

    Raises ModelUnknown, ModelAmbiguous, SettingsInvalid or EngineError.
    """
    entry = app.library.find(name)
    if entry.on_server:
        return
    abilities = app.library.facts(entry).can or ()  # none if its file cannot be read
    if setting == "embedding_model" and "embeds" not in abilities:
        raise SettingsInvalid(
            N_("“{name}” is not an embedding model.", name=entry.name),
            N_("It writes answers, but cannot turn texts into vectors."),
            N_("Choose an embedding model, or leave the value empty for the best one here."),
        )


def cell(value: Any) -> str:
    """Return a value as the text of a table's cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {cell(part)}" for key, part in value.items())
    return str(value)


def refuse_to_open(_: App, __: argparse.Namespace, ___: Output) -> int:
    """Report that `hearth open` needs a window; an open window takes the files before this."""
    raise UserError(
        N_("The files were not opened."),
        N_("There is no display for a window here."),
        N_("`hearth models import FILE` adds a model, `hearth ask --file FILE` asks about a text."),
    )


OPEN = Command(
    "open",
    "open files or a link in the window",
    refuse_to_open,
    (
        Argument(
            "files",
            "a model, a text or an exported chat, or a link that begins with hearth:",
            nargs="*",
            metavar="FILE",
        ),
    ),
)
HARDWARE = Command(
    "hardware",
    "show this computer's hardware, and which engines can run on it",
    show_hardware,
    (
        (
            Argument("--try", "test a graphics device again", dest="tried", metavar="DEVICE"),
            Argument(
                "--off", "stop using a graphics device until it is tested again", metavar="DEVICE"
            ),
        ),
    ),
)
_NAME = Argument(
    "name",
    N_("the setting's name, as `hearth settings list` shows it"),
    metavar="NAME",
    offers="settings",
)
SETTINGS = Command(
    "settings",
    "list, show and change the settings",
    verbs=(
        Command("list", "list all settings with their values", _list),
        Command("get", "show a setting", _get, (_NAME,)),
        Command(
            "set",
            "change a setting",
            _set,
            (_NAME, Argument("value", "the new value", metavar="VALUE")),
        ),
    ),
)


def reset_notes(settings: Mapping[str, object]) -> list[str]:
    """Return a sentence for each setting that named a removed thing, with its new value."""
    return [
        N_(
            "The setting “{name}” used it, and is now: {value}.",
            name=name,
            value=value or N_("empty"),
        )
        for name, value in settings.items()
    ]
