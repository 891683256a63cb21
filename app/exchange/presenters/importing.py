"""Imports chats of other programs, for the window: reads them first, then stores them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from app.exchange.services.reading import Check, read_files
from app.exchange.store.imports import ImportStore
from app.exchange.values.found import FileFound, Imported
from app.exchange.values.report import FileReport, reports
from app.kit.tasks.tasks import STORE, Failed, Task, Tasks

_QUEUE = "import"
"""A separate task queue, because reading a large export takes minutes."""


class Importing:
    """Imports chats; each method calls `done` or `failed`.

    Args:
        check: Checks the pictures and sounds of imported documents.
    """

    def __init__(self, store: ImportStore, check: Check, tasks: Tasks) -> None:
        self._store = store
        self._check = check
        self._tasks = tasks
        self._task: Task | None = None

    def read(
        self,
        paths: Sequence[Path],
        reading: Callable[[int], object],
        done: Callable[[Sequence[FileFound], Sequence[FileReport]], object],
        failed: Failed,
    ) -> None:
        """Read files and folders without storing anything; an earlier call is cancelled.

        Args:
            reading: Called with the number of files read so far.
        """
        self.cancel()
        files: list[FileFound] = []

        def batch(found: list[FileFound]) -> None:
            if task.token.cancelled:
                return
            files.extend(found)
            reading(len(files))

        def compare() -> None:
            if not task.token.cancelled:
                self._tasks.run(
                    lambda: self._report(files),
                    lambda reports: done(tuple(files), reports),
                    failed,
                    on=STORE,
                )

        task = self._tasks.stream(
            lambda cancel: read_files(paths, cancel, self._check), batch, compare, failed, on=_QUEUE
        )
        self._task = task

    def cancel(self) -> None:
        """Stop reading."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def import_chats(
        self,
        files: Sequence[FileFound],
        done: Callable[[Imported, Sequence[FileReport]], object],
        failed: Failed,
    ) -> None:
        """Store the chats that were found: all of them or, on an error, none."""

        def write() -> tuple[Imported, tuple[FileReport, ...]]:
            file_reports = self._report(files)
            return self._store.add([chat for file in files for chat in file.chats]), file_reports

        self._tasks.run(write, lambda found: done(*found), failed, on=STORE)

    def _report(self, files: Sequence[FileFound]) -> tuple[FileReport, ...]:
        known = self._store.known([chat.chat.id for file in files for chat in file.chats])
        return reports(files, known)
