"""`hearth chats export` and `hearth chats import`."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.output import Output
from app.core.errors import ChatNotFound, ExportFailed, NothingImported
from app.core.exchange.export import ExportOptions
from app.core.exchange.report import reports, told
from app.core.home import from_home
from app.services.exchange.reading import read_files
from app.services.exchange.writing import tell, text_of, write_file, write_files
from app.wiring import Core
from engines.cancel import CancelToken
from engines.text import json_harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.exchange.found import FileFound
    from app.services.exchange.page import Told


_REASONS = 3
"""Of what could not be read, so many are named in an error."""


def export_chats(core: Core, args: argparse.Namespace, out: Output) -> None:
    """To stdout, or with --output to a file or into a folder; a PDF at least into this folder."""
    options = ExportOptions(args.format, args.reasoning, args.branches)
    ids = [core.chats.chat(called).id for called in args.what]
    if args.folder is not None:
        ids += core.shelves.ids_in_folder(_folder(core, args.folder))
    chats = tell(core.chats, core.folders, tuple(dict.fromkeys(ids)))
    if not chats:
        raise ChatNotFound(
            "There is no chat to export.",
            "None was named, and the folder holds none." if args.folder else "None was named.",
            "Name one by its id; `hearth chats list` shows all, or name a folder with --folder.",
        )
    target: Path | None = args.output
    if target is None and options.kind == "pdf":
        target = Path()
    if target is None:
        _print(text_of(chats, options), options, out)
        return
    if target.is_dir() or (len(chats) > 1 and not target.suffix):
        written = write_files(target, chats, options, print_pdf)
    else:
        write_file(target, chats, options, print_pdf)
        written = (target,)
    out.value(
        {"written": [str(path) for path in written]},
        lambda: "\n".join(f"Saved {path}." for path in written),
    )


def import_chats(core: Core, args: argparse.Namespace, out: Output) -> None:
    """Report what was read and what not; with --dry-run nothing is kept."""
    files = list(read_files([from_home(it) for it in args.what], CancelToken()))
    chats = [chat for file in files for chat in file.chats]
    if not chats:
        raise _nothing(files)
    said = reports(files, core.imports.known([chat.chat.id for chat in chats]))
    if not args.dry_run:
        core.imports.add(chats)
    value = [{**asdict(it), "left_out": dict(it.left_out)} for it in said]
    out.value(
        {"imported": 0 if args.dry_run else sum(it.taken for it in said), "files": value},
        lambda: told(said, done=not args.dry_run),
    )


def _nothing(files: Sequence[FileFound]) -> NothingImported:
    reasons = [f"{it.what}: {it.why}" for file in files for it in file.not_read]
    more = len(reasons) - _REASONS
    told = " ".join(reasons[:_REASONS])
    return NothingImported(
        "No chat was read.",
        f"{told} And {more:,} more like that." if more > 0 else told or "Nothing was named.",
        "Name a file that another program has exported, a folder of such files, or an archive.",
    )


def print_pdf(chats: Sequence[Told], options: ExportOptions, path: Path) -> None:
    """Without a display. Raises ExportFailed where Qt cannot be loaded."""
    try:
        from PySide6.QtGui import QGuiApplication

        from app.ui.exchange.pdf import print_chats
    except ImportError as error:
        raise ExportFailed(
            "A PDF cannot be made here.",
            f"Qt, which draws it, cannot be loaded: {error}.",
            "Export as HTML, and print that from a browser.",
        ) from error
    app = QGuiApplication.instance() or QGuiApplication(["hearth", "-platform", "offscreen"])
    print_chats(chats, options, path)
    del app


def _print(text: str, options: ExportOptions, out: Output) -> None:
    """JSON is one value already; other texts are put into one where JSON is wanted."""
    if options.kind == "json":
        out.data(json_harmless(text))
    elif out.as_json:
        kind = "markdown" if options.kind == "md" else options.kind
        out.value({kind: text}, str)
    else:
        out.data(text)


def _folder(core: Core, name: str) -> str:
    found = [it for it in core.folders.folders() if it.name.casefold() == name.casefold()]
    if not found:
        raise ChatNotFound(
            f"There is no folder “{name}”.",
            "It was removed, or has another name.",
            "The sidebar of the window shows all folders.",
        )
    return found[0].id
