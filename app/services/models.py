"""The models of the library, for the window."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.core.models import ModelEntry
from app.services.library import Library
from app.services.mtp_advice import mtp_of_files
from app.services.tasks import STORE, SYSTEM, Tasks
from engines.errors import UserError


class Models(QObject):
    """added(ModelEntry) and removed(ModelEntry) follow when the list has changed.

    drafter_added(ModelEntry, names): a file that drafts for the models of these names.
    mtp_known(model, sentence): what its files say of multi-token prediction.
    """

    added = Signal(object)
    drafter_added = Signal(object, object)
    removed = Signal(object)
    mtp_known = Signal(str, str)
    failed = Signal(Exception)

    def __init__(self, library: Library, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._tasks = tasks
        self._looked: tuple[str, list[ModelEntry]] | None = None

    def list(self) -> list[ModelEntry]:
        return self._library.entries()

    def add(self, path: Path) -> None:
        """Check a file and add it where it lies."""

        def work() -> tuple[ModelEntry, list[str] | None]:
            entry = self._library.add(path)
            if not entry.drafts:
                return entry, None
            return entry, [target.name for target in self._library.drafts_for(entry)]

        def done(found: tuple[ModelEntry, list[str] | None]) -> None:
            entry, targets = found
            if targets is None:
                self.added.emit(entry)
            else:
                self.drafter_added.emit(entry, targets)

        self._tasks.run(work, done, self.failed.emit, on=STORE)

    def remove(self, model_id: str) -> None:
        """Take a model off the list; its file stays."""
        self._tasks.run(
            lambda: self._library.remove(model_id), self.removed.emit, self.failed.emit, on=STORE
        )

    def look_for_mtp(self, called: str) -> None:
        """Read what a model's files say; emits mtp_known with `called` and the sentence.

        Files that cannot be read have their reason for it there too. Nothing is read again while
        the list of models stays as it is.
        """
        asked = (called, [*self._library.entries(), *self._library.drafters()])
        if asked == self._looked:
            return
        self._looked = asked

        def look() -> str:
            try:
                return mtp_of_files(self._library, self._library.find(called))
            except UserError as error:
                return f"{error.what} {error.why}"

        self._tasks.run(look, partial(self.mtp_known.emit, called), self.failed.emit, on=SYSTEM)
