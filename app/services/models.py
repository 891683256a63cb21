"""The models of the library, for the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.core.models import ModelEntry
from app.services.library import Library
from app.services.tasks import STORE, Tasks


class Models(QObject):
    """added(ModelEntry) and removed(ModelEntry) follow when the list has changed."""

    added = Signal(object)
    removed = Signal(object)
    failed = Signal(Exception)

    def __init__(self, library: Library, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._tasks = tasks

    def list(self) -> list[ModelEntry]:
        return self._library.entries()

    def add(self, path: Path) -> None:
        """Check a file and add it where it lies."""
        self._tasks.run(
            lambda: self._library.add(path), self.added.emit, self.failed.emit, on=STORE
        )

    def remove(self, model_id: str) -> None:
        """Take a model off the list; its file stays."""
        self._tasks.run(
            lambda: self._library.remove(model_id), self.removed.emit, self.failed.emit, on=STORE
        )
