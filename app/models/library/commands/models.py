"""`hearth models`: lists the models on this computer and manages them."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.base.errors import ModelUnknown
from app.kit.terminal.command import Argument, Command, WrongUsage
from app.kit.terminal.output import Output, size, table
from app.models.discover.commands.hub import SEARCH, show_repository
from app.models.downloads.commands import PULL
from app.models.hub.values.names import is_hub_name
from app.models.library.commands.edit import EDIT, LISTED_MODEL
from app.models.library.commands.fit import FIT
from app.models.library.commands.model_rows import (
    added_in_words,
    described,
    detailed,
    drafter_rows,
    listed,
    model_row,
)
from app.models.library.services.details import details
from app.settings.commands import cell, change_settings, reset_notes
from app.settings.values.fields import Settings
from app.settings.values.models import effective, parse_setting
from engines.cancel import CancelToken
from engines.errors import ModelNotFound
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.wiring.app import App

_NOTES: Final = 10
"""How many skipped files are named, so that they do not hide the list."""


def _list(app: App, _: argparse.Namespace, out: Output) -> int:
    rows = [listed(app, entry) for entry in app.library.entries()]
    out.value(rows, lambda: table([*map(model_row, rows), *drafter_rows(app)]))
    app.library.keep_facts()
    notes = app.library.notes()
    for note in notes[:_NOTES]:
        out.note(note)
    if len(notes) > _NOTES:
        out.note(N_("{count} more were skipped.", count=f"{len(notes) - _NOTES:,}"))
    out.note(N_("On the disk: {total} in all.", total=size(app.manager.disk_use().total)))
    return 0


def _show(app: App, args: argparse.Namespace, out: Output) -> int:
    """Show a model.

    A model on this computer takes precedence; otherwise the Hub is asked for a repository of that
    name.
    """
    try:
        model_details = details(app.library, args.what)
    except (ModelUnknown, ModelNotFound):
        if not is_hub_name(args.what):
            raise
        return show_repository(app, args, out)
    value = {**detailed(model_details), **described(app, app.library.find(args.what))}
    out.value(value, lambda: table([(k, cell(v)) for k, v in value.items() if v not in (None, "")]))
    return 0


def _import(app: App, args: argparse.Namespace, out: Output) -> int:
    progress = partial(out.progress, step=N_("Copying and checking"))
    entry = app.manager.import_model(
        Path(args.what), copy=args.copy, progress=progress, cancel=CancelToken()
    )
    targets = [model.name for model in app.library.drafts_for(entry)] if entry.drafts else []
    value = {**described(app, entry), "drafts_for": targets}
    out.value(value, lambda: added_in_words(entry, targets))
    return 0


def _verify(app: App, args: argparse.Namespace, out: Output) -> int:
    progress = partial(out.progress, step=N_("Checking the file"))
    result = app.manager.verify(args.what, progress, CancelToken())
    value = {
        "id": result.entry.id,
        "sha256": result.sha256,
        "compared": result.compared,
        "verified": result.entry.verified is not None,
    }

    def human() -> str:
        if result.compared:
            return N_("{name} is intact: {sha256}.", name=result.entry.name, sha256=result.sha256)
        return N_(
            "There was nothing to compare {name} with; its current checksum is kept for "
            "the next check: {sha256}.",
            name=result.entry.name,
            sha256=result.sha256,
        )

    out.value(value, human)
    return 0


def _settings_naming(app: App, called: str) -> tuple[str, ...]:
    """Return the names of the settings that refer to this model."""
    entry = app.library.find(called)
    return app.library.settings_naming(app.settings.read(), lambda model: model.id == entry.id)


def _rename(app: App, args: argparse.Namespace, out: Output) -> int:
    naming = _settings_naming(app, args.what)
    entry = app.manager.rename(args.what, args.name)
    # A setting can refer to the model by its old name.
    change_settings(app, dict.fromkeys(naming, entry.id))
    out.value(
        {"id": entry.id, "name": entry.name},
        lambda: N_("{id} is now called {name}.", id=entry.id, name=entry.name),
    )
    return 0


def _set(app: App, args: argparse.Namespace, out: Output) -> int:
    if args.setting is None:
        if args.default:
            raise WrongUsage(
                N_("Hearth did not understand that command."),
                N_("--default needs the NAME of the setting to reset."),
                N_("`hearth models set M` shows those that are set."),
            )
        return _print_settings(app.manager.settings(args.what), out)
    if args.default:
        return _print_settings(app.manager.set(args.what, args.setting, None), out)
    if args.value is None:
        own = app.manager.settings(args.what)
        effective_settings = effective(app.settings.read(), app.library.own(args.what))
        parse_setting(args.setting, getattr(effective_settings, args.setting, None))
        value = getattr(effective_settings, args.setting)
        out.value(
            {"name": args.setting, "value": value, "own": args.setting in own},
            lambda: cell(value),
        )
        return 0
    return _print_settings(app.manager.set(args.what, args.setting, args.value), out)


def _print_settings(values: Any, out: Output) -> int:
    out.value(
        dict(values),
        lambda: (
            table([(name, cell(value)) for name, value in values.items()])
            or N_("This model has no settings of its own.")
        ),
    )
    return 0


def _remove(app: App, args: argparse.Namespace, out: Output) -> int:
    naming = _settings_naming(app, args.what)
    deleted = app.manager.delete(args.what, with_file=args.file)
    settings = change_settings(app, {name: getattr(Settings(), name) for name in naming})
    value = {"removed": deleted.entry.id, "files": deleted.files, "frees_bytes": deleted.frees}
    value["settings"] = settings

    def human() -> str:
        lines = [
            N_(
                "{id} was removed from the list; {path} stays.",
                id=deleted.entry.id,
                path=deleted.entry.path,
            )
        ]
        if deleted.files:
            lines = [
                N_(
                    "{id} is in the trash; emptying the trash frees {frees}.",
                    id=deleted.entry.id,
                    frees=size(deleted.frees),
                )
            ]
        return joined("\n", (*lines, *reset_notes(settings)))

    out.value(value, human)
    return 0


COMMAND = Command(
    "models",
    "manage the models on this computer, and find others on the Hub",
    verbs=(
        Command("list", "list all models on this computer", _list),
        SEARCH,
        Command(
            "show",
            "show the details of a model here, or of a repository on the Hub",
            _show,
            (
                Argument(
                    "what", "a model here, or owner/name on the Hub", metavar="M", offers="models"
                ),
            ),
        ),
        FIT,
        PULL,
        Command(
            "import",
            "add a GGUF file to the list",
            _import,
            (
                Argument("what", "the GGUF file", metavar="PATH"),
                Argument(
                    "--copy",
                    "copy it to the folder of models; otherwise it is used in place",
                    action="store_true",
                ),
            ),
        ),
        Command("verify", "check that a model's file is intact", _verify, (LISTED_MODEL,)),
        Command(
            "rename",
            "give a model another name",
            _rename,
            (LISTED_MODEL, Argument("name", "the new name", metavar="NAME")),
        ),
        Command(
            "set",
            "change a setting for one model; without a setting, show those that it has",
            _set,
            (
                LISTED_MODEL,
                Argument(
                    "setting",
                    "the setting's name, as `hearth settings list` shows it",
                    nargs="?",
                    metavar="NAME",
                    offers="settings",
                ),
                Argument(
                    "value",
                    "the new value; without it, the present one is shown",
                    nargs="?",
                    metavar="VALUE",
                ),
                Argument(
                    "--default",
                    "remove the model's own value, so that the app's setting applies again",
                    action="store_true",
                ),
            ),
        ),
        EDIT,
        Command(
            "rm",
            "remove a model from the list; a downloaded one goes to the trash",
            _remove,
            (
                LISTED_MODEL,
                Argument(
                    "--file",
                    "move the file to the trash as well, wherever it is",
                    action="store_true",
                ),
            ),
            aliases=("remove",),
        ),
    ),
)
