"""Writing chats of the store as files of the user's choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from app.core.exchange.export import ExportOptions, all_as_json, as_json, as_markdown
from app.services.exchange.files import Files
from app.services.exchange.page import Told, page
from app.store.chats import ChatStore
from app.store.folders import FolderStore

Print = Callable[[Sequence[Told], ExportOptions, Path], None]
"""Writes chats as a PDF. Raises OSError."""


def tell(store: ChatStore, folders: FolderStore, chat_ids: Sequence[str]) -> list[Told]:
    """The chats with all that is in them. Raises ChatNotFound."""
    names = {folder.id: folder.name for folder in folders.folders()}
    chats = [store.chat(chat_id) for chat_id in chat_ids]
    return [Told(it, store.messages(it.id), names.get(it.folder_id or "", "")) for it in chats]


def text_of(chats: Sequence[Told], options: ExportOptions) -> str:
    """One text for all of them, of any kind but PDF."""
    if options.kind == "json":
        if len(chats) == 1:
            return as_json(chats[0].chat, chats[0].messages, chats[0].folder)
        return all_as_json((it.chat, it.messages, it.folder) for it in chats)
    if options.kind == "html":
        return page(chats, options)
    return "\n".join(as_markdown(it.chat, it.messages, options) for it in chats)


def write_file(path: Path, chats: Sequence[Told], options: ExportOptions, print_: Print) -> None:
    """All of them into one file. Raises DiskFull or ExportFailed; nothing is left there then."""
    with Files() as files:
        _write(files, path, chats, options, print_)


def write_files(
    into: Path, chats: Sequence[Told], options: ExportOptions, print_: Print
) -> tuple[Path, ...]:
    """A file for each into a folder, which is made if need be; nothing is overwritten.

    Raises as `write_file`; none of the files is left then.
    """
    written = []
    with Files() as files:
        files.make_folder(into)
        for told in chats:
            path = files.free(into, told.chat.title, options.kind)
            _write(files, path, [told], options, print_)
            written.append(path)
    return tuple(written)


def _write(
    files: Files, path: Path, chats: Sequence[Told], options: ExportOptions, print_: Print
) -> None:
    if options.kind == "pdf":
        with files.whole(path) as partial:
            print_(chats, options, partial)
    else:
        files.write(path, text_of(chats, options))
