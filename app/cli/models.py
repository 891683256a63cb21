"""`hearth models`: what is on this computer, and what is done with it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from app.cli.fit import fit_model
from app.cli.hub import search_models, show_repository
from app.cli.manage import cell
from app.cli.model_rows import added_in_words, described, drafter_rows, listed, model_row, shown
from app.cli.output import Output, size, table
from app.cli.parser import Usage
from app.cli.pull import pull
from app.core.errors import ModelUnknown
from app.core.models.hub_names import is_hub_name
from app.core.settings.models import checked
from app.services.models.details import details
from app.wiring import Core
from engines.cancel import CancelToken
from engines.errors import ModelNotFound

_NOTES: Final = 10
"""How many of the files that were skipped are named, so that they do not hide the list."""


def manage_models(core: Core, args: argparse.Namespace, out: Output) -> int:
    """Carry out the command; returns the exit status."""
    verbs: dict[str, Callable[[Core, argparse.Namespace, Output], int]] = {
        "list": _list,
        "search": search_models,
        "show": _show,
        "fit": fit_model,
        "pull": pull,
        "import": _import,
        "verify": _verify,
        "rename": _rename,
        "set": _set,
        "rm": _remove,
    }
    return verbs[args.verb](core, args, out)


def _list(core: Core, _: argparse.Namespace, out: Output) -> int:
    found = [listed(core, entry) for entry in core.library.entries()]
    out.value(found, lambda: table([*map(model_row, found), *drafter_rows(core)]))
    core.library.keep_facts()
    notes = core.library.notes()
    for note in notes[:_NOTES]:
        out.note(note)
    if len(notes) > _NOTES:
        out.note(f"{len(notes) - _NOTES:,} more were skipped.")
    out.note(f"On the disk: {size(core.care.disk_use().total)} in all.")
    return 0


def _show(core: Core, args: argparse.Namespace, out: Output) -> int:
    """A model here goes before a repository of the same name, which the Hub is asked for."""
    try:
        found = details(core.library, args.what)
    except (ModelUnknown, ModelNotFound):
        if not is_hub_name(args.what):
            raise
        return show_repository(core, args, out)
    value = {**shown(found), **described(core, core.library.find(args.what))}
    out.value(value, lambda: table([(k, cell(v)) for k, v in value.items() if v not in (None, "")]))
    return 0


def _import(core: Core, args: argparse.Namespace, out: Output) -> int:
    def progress(share: float) -> None:
        out.rewrite(f"Copying and checking: {share:4.0%}" if share < 1 else "")

    entry = core.care.take_in(
        Path(args.what), copy=args.copy, progress=progress, cancel=CancelToken()
    )
    targets = [it.name for it in core.library.drafts_for(entry)] if entry.drafts else []
    value = {**described(core, entry), "drafts_for": targets}
    out.value(value, lambda: added_in_words(entry, targets))
    return 0


def _verify(core: Core, args: argparse.Namespace, out: Output) -> int:
    def progress(share: float) -> None:
        out.rewrite(f"Reading every byte: {share:4.0%}" if share < 1 else "")

    found = core.care.verify(args.what, progress, CancelToken())
    value = {
        "id": found.entry.id,
        "sha256": found.sha256,
        "compared": found.compared,
        "verified": found.entry.verified is not None,
    }

    def human() -> str:
        if found.compared:
            return f"{found.entry.name} is as it should be: {found.sha256}."
        return (
            f"There was nothing to compare {found.entry.name} with; what it is now is "
            f"remembered for the next time: {found.sha256}."
        )

    out.value(value, human)
    return 0


def _rename(core: Core, args: argparse.Namespace, out: Output) -> int:
    entry = core.care.rename(args.what, args.name)
    out.value(
        {"id": entry.id, "name": entry.name}, lambda: f"{entry.id} is now called {entry.name}."
    )
    return 0


def _set(core: Core, args: argparse.Namespace, out: Output) -> int:
    if args.setting is None:
        if args.default:
            raise Usage(
                "Hearth did not understand that command.",
                "--default needs the NAME of the setting that it takes back.",
                "`hearth models set M` shows those that are set.",
            )
        return _print_settings(core.care.settings(args.what), out)
    if args.default:
        return _print_settings(core.care.set(args.what, args.setting, None), out)
    if args.value is None:
        own = core.care.settings(args.what)
        held = core.library.settings_for(args.what, core.settings.read())
        checked(args.setting, getattr(held, args.setting, None))
        value = getattr(held, args.setting)
        out.value(
            {"name": args.setting, "value": value, "own": args.setting in own},
            lambda: cell(value),
        )
        return 0
    return _print_settings(core.care.set(args.what, args.setting, args.value), out)


def _print_settings(values: Any, out: Output) -> int:
    out.value(
        dict(values),
        lambda: (
            table([(name, cell(value)) for name, value in values.items()])
            or "Nothing is set for this model alone."
        ),
    )
    return 0


def _remove(core: Core, args: argparse.Namespace, out: Output) -> int:
    gone = core.care.delete(args.what, with_file=args.file)
    value = {"removed": gone.entry.id, "files": gone.files, "frees_bytes": gone.frees}

    def human() -> str:
        if not gone.files:
            return f"{gone.entry.id} is off the list; {gone.entry.path} stays."
        return f"{gone.entry.id} is in the trash; emptying it frees {size(gone.frees)}."

    out.value(value, human)
    return 0
