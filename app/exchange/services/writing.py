"""Writes stored chats to files that the user chooses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import TracebackType

from app.base.errors import DiskFull, ExportFailed
from app.base.folder import as_user_errors
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.folders import FolderStore
from app.chats.history.values.conversation import StoredMessage, path_to
from app.documents.citations.values import CheckedAnswer, Citation
from app.exchange.values.chat_page import page
from app.exchange.values.export import (
    ExportedChat,
    ExportOptions,
    all_as_json,
    as_json,
    as_markdown,
    file_name,
    sign_of,
)
from app.markdown.parser import Parser
from app.markdown.reading import Sign, read_text, with_signs
from engines.private import replacing
from engines.sentences import N_


class Files:
    """Files that are written together; an error in the block removes them all.

    They contain chats, so only their owner can read them; sharing them is up to the owner.

    Example::

        with Files() as files:
            files.write(files.free(folder, "Bread", "md"), text)
    """

    def __init__(self) -> None:
        self._written: list[Path] = []
        self._new_folders: list[Path] = []
        self._used_names: dict[Path, set[str]] = {}

    def __enter__(self) -> Files:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            return
        for path in self._written:
            path.unlink(missing_ok=True)
        for folder in reversed(self._new_folders):
            folder.rmdir()

    def make_folder(self, folder: Path) -> None:
        """Create a folder if it is missing; its parent must exist."""
        if not folder.is_dir():
            with _as_export_errors(folder):
                folder.mkdir(mode=0o700)
            self._new_folders.append(folder)

    def free(self, folder: Path, title: str, ending: str) -> Path:
        """Return an unused path named after a title; case is ignored in the comparison."""
        if folder not in self._used_names:
            with _as_export_errors(folder):
                self._used_names[folder] = {path.name.casefold() for path in folder.iterdir()}
        used, name = self._used_names[folder], file_name(title)
        tries = (f"{name}{f' {number}' if number > 1 else ''}.{ending}" for number in count(1))
        free = next(name for name in tries if name.casefold() not in used)
        used.add(free.casefold())
        return folder / free

    def write(self, path: Path, text: str) -> None:
        """Write a file. On DiskFull or ExportFailed, the former content of `path` is kept."""
        with (
            self.replacing(path) as unfinished,
            unfinished.open("w", encoding="utf-8", newline="\n") as file,
        ):
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def replacing(self, path: Path) -> Iterator[Path]:
        """Provide a temporary file beside `path` that replaces it at the end of the block."""
        was_there = path.exists()
        with _as_export_errors(path), replacing(path) as unfinished:
            yield unfinished
        if not was_there:
            self._written.append(path)


def _as_export_errors(path: Path) -> AbstractContextManager[None]:
    """Turn the system's errors on writing a file or a folder into errors for the user."""
    full = DiskFull(
        N_("The disk is full."),
        N_(
            "There is no room left in {parent}; the unfinished file was removed.",
            parent=path.parent,
        ),
        N_("Free some space, or export to another disk."),
    )
    do = N_("Check that the folder is there and allow writing to it, or choose another.")
    return as_user_errors(path, full=full, do=do, refused=ExportFailed, failed=ExportFailed)


Print = Callable[[Sequence[ExportedChat], ExportOptions, Path], None]
"""Writes chats as a PDF. Raises OSError."""


Check = Callable[[Sequence[StoredMessage], str], CheckedAnswer]
"""Checks the quotes of the answer at the end of a path; see `app.chats.answers.services.citing`."""


def load_chats(
    store: ChatStore, folders: FolderStore, chat_ids: Sequence[str], check: Check
) -> list[ExportedChat]:
    """Return the chats with everything in them. Raises ChatNotFound."""
    names = {folder.id: folder.name for folder in folders.folders()}
    chats = [store.chat(chat_id) for chat_id in chat_ids]
    exported = []
    for chat in chats:
        messages = store.messages(chat.id)
        folder = names.get(chat.folder_id or "", "")
        quotes = _quotes(messages, check)
        exported.append(ExportedChat(chat, messages, folder, store.documents(chat.id), quotes))
    return exported


def _quotes(messages: Sequence[StoredMessage], check: Check) -> dict[str, Sequence[Citation]]:
    """Check the quotes of all answers about files; return them by message id."""
    if not any(message.attachments or message.sources for message in messages):
        return {}
    parser, found = Parser(), {}
    for message in messages:
        if message.role == "assistant" and message.text:
            path = path_to(messages, message.id)
            if any(message.attachments or message.sources for message in path):
                quotes = check(path, read_text(parser.parse(message.text))).citations
                found[message.id] = quotes
    return {message_id: quotes for message_id, quotes in found.items() if quotes}


def text_of(chats: Sequence[ExportedChat], options: ExportOptions) -> str:
    """Return chats as one text, in any format except PDF."""
    if options.kind == "json":
        if len(chats) == 1:
            only = chats[0]
            return as_json(only.chat, only.messages, only.folder, only.documents)
        return all_as_json(
            (chat.chat, chat.messages, chat.folder, chat.documents) for chat in chats
        )
    if options.kind == "html":
        return page(chats, options)
    return "\n".join(
        as_markdown(chat.chat, _with_signs(chat), options, chat.quotes) for chat in chats
    )


def _with_signs(exported: ExportedChat) -> Iterator[StoredMessage]:
    """Yield the messages of a chat, with a sign of the verdict at each checked quote."""
    parser = Parser()
    for message in exported.messages:
        quotes = enumerate(exported.quotes.get(message.id, ()), 1)
        signs = [Sign(quote.start, quote.end, sign_of(quote, number)) for number, quote in quotes]
        yield (
            replace(message, text=with_signs(message.text, signs, parser.parse))
            if signs
            else message
        )


def write_file(
    path: Path, chats: Sequence[ExportedChat], options: ExportOptions, print_: Print
) -> None:
    """Write chats into one file.

    Raises:
        DiskFull: The disk is full; nothing is left there.
        ExportFailed: The file could not be written; nothing is left there.
    """
    with Files() as files:
        _write(files, path, chats, options, print_)


def write_text(path: Path, text: str) -> None:
    """Write a text into one file. Raises the same as `write_file`."""
    with Files() as files:
        files.write(path, text)


def write_files(
    into: Path, chats: Sequence[ExportedChat], options: ExportOptions, print_: Print
) -> tuple[Path, ...]:
    """Write a file for each chat into a folder, which is created if needed; nothing is overwritten.

    Raises the same as `write_file`; none of the files is left then.
    """
    written = []
    with Files() as files:
        files.make_folder(into)
        for exported in chats:
            path = files.free(into, exported.chat.title, options.kind)
            _write(files, path, [exported], options, print_)
            written.append(path)
    return tuple(written)


def _write(
    files: Files, path: Path, chats: Sequence[ExportedChat], options: ExportOptions, print_: Print
) -> None:
    if options.kind == "pdf":
        with files.replacing(path) as unfinished:
            print_(chats, options, unfinished)
    else:
        files.write(path, text_of(chats, options))
