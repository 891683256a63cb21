"""The verbs `show`, `export` and `import` of `hearth chats`, and the command with all its verbs."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from app.base.errors import ChatNotFound, ExportFailed, NothingImported
from app.base.home import expand_home
from app.chats.commands.chats import CHAT, VERBS
from app.exchange.services.reading import read_files
from app.exchange.services.writing import load_chats, text_of, write_file, write_files
from app.exchange.values.export import ExportOptions, as_markdown
from app.exchange.values.recognise import WHOLE_FILE
from app.exchange.values.report import report_text, reports
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output
from engines.cancel import CancelToken
from engines.sentences import N_, joined
from engines.text import json_harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.exchange.values.export import ExportedChat
    from app.exchange.values.found import FileFound
    from app.wiring.app import App


_REASONS = 20
"""Most unreadable things that an error names."""


def _show(app: App, args: argparse.Namespace, out: Output) -> int:
    chat = app.chats.chat(args.what)
    path = app.chats.path(chat.id)
    out.value(
        {**asdict(chat), "messages": [asdict(message) for message in path]},
        lambda: as_markdown(chat, path),
    )
    return 0


def export_chats(app: App, args: argparse.Namespace, out: Output) -> int:
    """Export to stdout, or with --output to a file or folder; a PDF always becomes a file.

    Without --output, a PDF goes to the current folder.
    """
    options = ExportOptions(args.format, args.reasoning, args.branches)
    ids = [app.chats.chat(called).id for called in args.what]
    if args.folder is not None:
        ids += app.chat_lists.ids_in_folder(_folder(app, args.folder))
    chats = load_chats(app.chats, app.folders, tuple(dict.fromkeys(ids)), app.citing.check)
    if not chats:
        raise ChatNotFound(
            N_("There is no chat to export."),
            N_("No chat was named, and the folder is empty.")
            if args.folder
            else N_("No chat was named."),
            N_(
                "Name one by its id; `hearth chats list` shows all, or name a folder with --folder."
            ),
        )
    target: Path | None = args.output
    if target is None and options.kind == "pdf":
        target = Path()
    if target is None:
        _print(text_of(chats, options), options, out)
        return 0
    if target.is_dir() or (len(chats) > 1 and not target.suffix):
        written = write_files(target, chats, options, print_pdf)
    else:
        write_file(target, chats, options, print_pdf)
        written = (target,)
    out.value(
        {"written": [str(path) for path in written]},
        lambda: joined("\n", (N_("Saved {path}.", path=path) for path in written)),
    )
    return 0


def import_chats(app: App, args: argparse.Namespace, out: Output) -> int:
    """Import chats and report what was read and what was not; --dry-run stores nothing."""
    paths = [expand_home(path) for path in args.what]
    files = list(read_files(paths, CancelToken(), app.documents.checked))
    chats = [chat for file in files for chat in file.chats]
    if not chats:
        raise _nothing_found(files)
    file_reports = reports(files, app.imports.known([chat.chat.id for chat in chats]))
    if not args.dry_run:
        app.imports.add(chats)
    value = [{**asdict(report), "left_out": dict(report.left_out)} for report in file_reports]
    out.value(
        {
            "imported": 0 if args.dry_run else sum(report.imported for report in file_reports),
            "files": value,
        },
        lambda: report_text(file_reports, done=not args.dry_run),
    )
    return 0


def _nothing_found(files: Sequence[FileFound]) -> NothingImported:
    reasons = [
        N_("{name}: {why}", name=_named(file, entry.what), why=entry.why)
        for file in files
        for entry in file.not_read
    ]
    more = len(reasons) - _REASONS
    reasons_text = joined(" ", reasons[:_REASONS])
    return NothingImported(
        N_("No chat was read."),
        N_("{words} And {more} more reasons.", words=reasons_text, more=f"{more:,}")
        if more > 0
        else reasons_text or N_("Nothing was named."),
        N_("Name a file that another program has exported, a folder of such files, or an archive."),
    )


def _named(file: FileFound, part: str) -> str:
    """Return the name of a part of a file, distinct from parts of other files."""
    name = file.path.name
    return name if part in (name, *WHOLE_FILE) else N_("{name}, {part}", name=name, part=part)


def print_pdf(chats: Sequence[ExportedChat], options: ExportOptions, path: Path) -> None:
    """Print chats as a PDF, without a display.

    Raises:
        ExportFailed: Qt cannot be loaded.
    """
    try:
        from PySide6.QtGui import QGuiApplication

        from app.exchange.pages.pdf import print_chats
    except ImportError as error:
        raise ExportFailed(
            N_("A PDF cannot be made here."),
            N_("Qt, which draws it, cannot be loaded: {error}.", error=error),
            N_("Export as HTML, and print that from a browser."),
        ) from error
    app = QGuiApplication.instance() or QGuiApplication(["hearth", "-platform", "offscreen"])
    print_chats(chats, options, path)
    del app


def _print(text: str, options: ExportOptions, out: Output) -> None:
    """Print an export: JSON unchanged; other texts inside one value if JSON is wanted."""
    if options.kind == "json":
        out.data(json_harmless(text))
    elif out.as_json:
        kind = "markdown" if options.kind == "md" else options.kind
        out.value({kind: text}, str)
    else:
        out.data(text)


def _folder(app: App, name: str) -> str:
    found = [
        folder for folder in app.folders.folders() if folder.name.casefold() == name.casefold()
    ]
    if not found:
        raise ChatNotFound(
            N_("There is no folder “{name}”.", name=name),
            N_("It was removed, or has another name."),
            N_("The sidebar of the window shows all folders."),
        )
    return found[0].id


COMMAND = Command(
    "chats",
    "manage, search, export and import the chats on this computer",
    verbs=(
        *VERBS,
        Command("show", "print a chat", _show, (CHAT,)),
        Command(
            "export",
            "print chats as text, or write them to files",
            export_chats,
            (
                Argument("what", "the chats' ids, or their beginnings", metavar="ID", nargs="*"),
                Argument(
                    "--format",
                    "the format; by default md",
                    choices=("md", "html", "pdf", "json"),
                    default="md",
                ),
                Argument(
                    "--output",
                    "write to this file, or to one file a chat in this folder; otherwise to "
                    "standard output",
                    type=Path,
                    metavar="PATH",
                ),
                Argument("--folder", "also export all chats in this folder", metavar="NAME"),
                Argument(
                    "--reasoning",
                    "include the model's reasoning; JSON always does",
                    action="store_true",
                ),
                Argument(
                    "--branches", "include every branch; JSON always does", action="store_true"
                ),
            ),
        ),
        Command(
            "import",
            "import chats that Hearth or another program has exported",
            import_chats,
            (
                Argument("what", "the exported files", metavar="FILE", nargs="+"),
                Argument(
                    "--dry-run",
                    "say what would be imported, and keep nothing",
                    action="store_true",
                ),
            ),
        ),
    ),
)
