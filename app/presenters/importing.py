"""Importing chats of other programs, for the window: looking first, then taking them in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.core.exchange.found import FileFound, Imported
from app.core.exchange.report import FileReport, reports
from app.presenters.tasks import STORE, Task, Tasks
from app.services.exchange.reading import read_files
from app.store.imports import ImportStore

_QUEUE = "import"
"""Reading takes minutes for large exports; nothing else waits for it."""


class Importing(QObject):
    """looked(files, reports): what there is, once all was read; nothing has been changed.

    reading(number): so many files have been read. imported(Imported, reports): it is done.
    failed(error).
    """

    looked = Signal(object, object)
    reading = Signal(int)
    imported = Signal(object, object)
    failed = Signal(Exception)

    def __init__(self, store: ImportStore, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._tasks = tasks
        self._task: Task | None = None

    def look(self, paths: Sequence[Path]) -> None:
        """Read files and folders. A look that was begun before is given up."""
        self.cancel()
        files: list[FileFound] = []

        def batch(found: list[FileFound]) -> None:
            if task.token.cancelled:
                return
            files.extend(found)
            self.reading.emit(len(files))

        def done() -> None:
            if not task.token.cancelled:
                self._compare(files)

        task = self._tasks.stream(
            lambda cancel: read_files(paths, cancel), batch, done, self.failed.emit, on=_QUEUE
        )
        self._task = task

    def cancel(self) -> None:
        """Give up looking."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def take_in(self, files: Sequence[FileFound]) -> None:
        """Store what was found: all of it or, on an error, nothing. Emits imported, or failed."""

        def write() -> tuple[Imported, tuple[FileReport, ...]]:
            said = self._report(files)
            return self._store.add([chat for file in files for chat in file.chats]), said

        self._tasks.run(write, lambda done: self.imported.emit(*done), self.failed.emit, on=STORE)

    def _compare(self, files: Sequence[FileFound]) -> None:
        self._tasks.run(
            lambda: self._report(files),
            lambda said: self.looked.emit(tuple(files), said),
            self.failed.emit,
            on=STORE,
        )

    def _report(self, files: Sequence[FileFound]) -> tuple[FileReport, ...]:
        known = self._store.known([chat.chat.id for file in files for chat in file.chats])
        return reports(files, known)
