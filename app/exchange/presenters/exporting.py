"""Exports chats as files, for the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from app.chats.history.store.chats import ChatStore
from app.chats.history.store.folders import FolderStore
from app.exchange.services.writing import (
    Check,
    Print,
    load_chats,
    write_file,
    write_files,
    write_text,
)
from app.exchange.values.export import ExportOptions
from app.kit.tasks.tasks import Failed, Tasks

_QUEUE = "export"
"""A separate task queue, because a long chat takes seconds as a PDF."""


class Exporting:
    """Exports chats.

    `done` is called with the file or folder. If `failed` is called, nothing was left there.
    """

    def __init__(
        self, store: ChatStore, folders: FolderStore, check: Check, print_: Print, tasks: Tasks
    ) -> None:
        """Create the presenter.

        Args:
            check: Checks quotes, on the task queue.
            print_: Writes PDFs, on the task queue.
        """
        self._store = store
        self._folders = folders
        self._check = check
        self._print = print_
        self._tasks = tasks

    def to_file(
        self,
        chat_ids: Sequence[str],
        path: Path,
        options: ExportOptions,
        done: Callable[[Path], object],
        failed: Failed,
    ) -> None:
        """Write all chats into one file."""

        def write() -> Path:
            chats = load_chats(self._store, self._folders, chat_ids, self._check)
            write_file(path, chats, options, self._print)
            return path

        self._tasks.run(write, done, failed, on=_QUEUE)

    def text_to_file(
        self, text: str, path: Path, done: Callable[[Path], object], failed: Failed
    ) -> None:
        """Write a text unchanged."""

        def write() -> Path:
            write_text(path, text)
            return path

        self._tasks.run(write, done, failed, on=_QUEUE)

    def to_folder(
        self,
        chat_ids: Sequence[str],
        into: Path,
        options: ExportOptions,
        done: Callable[[Path], object],
        failed: Failed,
    ) -> None:
        """Write a file for each chat, named after its title; nothing is overwritten."""

        def write() -> Path:
            chats = load_chats(self._store, self._folders, chat_ids, self._check)
            write_files(into, chats, options, self._print)
            return into

        self._tasks.run(write, done, failed, on=_QUEUE)
