"""Exporting chats as files, for the window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.core.exchange.export import ExportOptions
from app.presenters.tasks import Tasks
from app.services.exchange.writing import Print, tell, write_file, write_files
from app.store.chats import ChatStore
from app.store.folders import FolderStore

_QUEUE = "export"
"""A long chat takes seconds as a PDF; nothing else waits for it."""


class Exporting(QObject):
    """exported(path): the file, or the folder of the files. failed(error): nothing was left there.

    print_: writes PDFs; it is called on the queue.
    """

    exported = Signal(Path)
    failed = Signal(Exception)

    def __init__(
        self,
        store: ChatStore,
        folders: FolderStore,
        print_: Print,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._folders = folders
        self._print = print_
        self._tasks = tasks

    def to_file(self, chat_ids: Sequence[str], path: Path, options: ExportOptions) -> None:
        """All of them into one file."""

        def write() -> Path:
            told = tell(self._store, self._folders, chat_ids)
            write_file(path, told, options, self._print)
            return path

        self._tasks.run(write, self.exported.emit, self.failed.emit, on=_QUEUE)

    def to_folder(self, chat_ids: Sequence[str], into: Path, options: ExportOptions) -> None:
        """A file for each, named after their titles; nothing that is there is overwritten."""

        def write() -> Path:
            told = tell(self._store, self._folders, chat_ids)
            write_files(into, told, options, self._print)
            return into

        self._tasks.run(write, self.exported.emit, self.failed.emit, on=_QUEUE)
