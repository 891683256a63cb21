"""`hearth models edit`: prints and changes the metadata of a model's file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.kit.terminal.arguments import YES
from app.kit.terminal.command import Argument, Command, WrongUsage
from app.kit.terminal.confirmation import confirm
from app.kit.terminal.interrupt import interruptible
from app.kit.terminal.output import Output, size, table
from app.kit.terminal.streams import read, read_file
from app.models.library.commands.model_rows import described
from app.models.library.values.entry import ModelEntry
from engines.cancel import CancelToken
from engines.models.gguf.edit import Metadata
from engines.sentences import N_

if TYPE_CHECKING:
    from app.models.library.values.editable import EditableMetadata
    from app.wiring.app import App

LISTED_MODEL: Final = Argument(
    "what",
    N_("the model's id or name, as `hearth models list` shows it"),
    metavar="M",
    offers="models",
)
_TEMPLATE_SHOWN: Final = 60
"""How many characters of a template the table shows."""


def edit_model(app: App, args: argparse.Namespace, out: Output) -> int:
    """Print a file's metadata, or change it; return the exit status."""
    from app.models.library.services.editing import sample_prompt

    if args.key is None:
        return _print_all(app.metadata.read(args.what), out)
    text = _new_value(args)
    if text is None:
        return _print_one(app.metadata.read(args.what), args.key, out)
    changes = _changes(args.key, text)
    if changes.template is not None:
        sample_prompt(changes.template, CancelToken())
    now = app.metadata.read(args.what)
    if args.copy is None and not now.why_not:
        question = N_(
            "Change {name} itself ({size_bytes} are written)?",
            name=now.entry.path.name,
            size_bytes=size(now.size_bytes),
        )
        if not args.yes and not confirm(out, question, N_("The file was not changed.")):
            out.note(N_("Nothing was changed."))
            return 1

    progress = partial(out.progress, step=N_("Writing the file"))

    def write(cancel: CancelToken) -> Iterator[ModelEntry]:
        if args.copy is None:
            yield app.metadata.change(now.entry.id, changes, progress, cancel)
        else:
            yield app.metadata.save_copy(now.entry.id, changes, args.copy, progress, cancel)

    (entry,) = list(interruptible(write))
    out.rewrite("")
    out.value(
        {**described(app, entry), "changed": args.key, "copy": args.copy is not None},
        lambda: N_(_CHANGED[args.key], id=entry.id, path=entry.path),
    )
    return 0


_CHANGED: Final = {
    "template": N_("{id} has another chat template; its file is {path}."),
    "name": N_("{id} has another name; its file is {path}."),
    "context": N_("{id} has another context length; its file is {path}."),
}


def _new_value(args: argparse.Namespace) -> str | None:
    """Return the new value from the argument, a file or standard input; None if there is none."""
    if args.file is not None and args.value is not None:
        raise WrongUsage(
            N_("There are two values."),
            N_("VALUE was given, and --file as well."),
            N_("Leave out one of the two."),
        )
    if args.file is not None:
        return read_file(args.file)
    if args.value is None or args.key != "template":
        return args.value  # type: ignore[no-any-return]
    if args.value == "-":
        return read()
    return read_file(Path(args.value[1:])) if args.value.startswith("@") else str(args.value)


def _changes(key: str, text: str) -> Metadata:
    """Read the changes.

    Raises:
        MetadataRefused: The value is not allowed.
        WrongUsage: The context length is not a number.
    """
    if key == "template":
        return Metadata(template=text)
    if key == "name":
        return Metadata(name=text)
    try:
        return Metadata(context=int(text))
    except ValueError:
        raise WrongUsage(
            N_("Hearth did not understand that command."),
            N_("“{text}” is not a number of tokens.", text=text),
            N_("Give a whole number, such as 32768."),
        ) from None


def _print_all(metadata: EditableMetadata, out: Output) -> int:
    value = {"name": metadata.name, "context": metadata.context, "template": metadata.template}

    def human() -> str:
        template = " ".join(metadata.template.split())
        short = template[:_TEMPLATE_SHOWN] + ("…" if len(template) > _TEMPLATE_SHOWN else "")
        rows = [("name", metadata.name), ("context", str(metadata.context)), ("template", short)]
        return table(rows)

    out.value({**value, "in_place": not metadata.why_not}, human)
    if metadata.why_not:
        out.note(N_("Only a copy can be changed. {why_not}", why_not=metadata.why_not))
    return 0


def _print_one(metadata: EditableMetadata, key: str, out: Output) -> int:
    if out.as_json:
        out.value({"name": key, "value": getattr(metadata, key)}, lambda: "")
    else:
        out.data(str(getattr(metadata, key)))
    return 0


EDIT = Command(
    "edit",
    "print or change the metadata of a GGUF file, in a copy or in place",
    edit_model,
    (
        LISTED_MODEL,
        Argument(
            "key",
            "template, name or context; without it, all three are printed",
            nargs="?",
            choices=tuple(_CHANGED),
            metavar="KEY",
        ),
        Argument(
            "value",
            "the new value; for a template also @FILE, or - for standard input",
            nargs="?",
            metavar="VALUE",
        ),
        Argument(
            "--file",
            "read the new value from this file; otherwise it is VALUE",
            type=Path,
            metavar="FILE",
        ),
        (
            Argument(
                "--copy",
                "write a copy with this name; otherwise the file itself is changed",
                metavar="NAME",
            ),
            Argument(
                "--in-place",
                "change the file itself; it is written anew beside the old one and then replaces "
                "it",
                action="store_true",
            ),
        ),
        YES,
    ),
)
