"""The models of the library, for the window: which there are, taking in and letting go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.core.models.entry import ModelEntry
from app.presenters.tasks import STORE, SYSTEM, Task, Tasks
from app.services.models.library import Library
from app.services.models.manager import ModelManager
from app.services.models.mtp_advice import Advise, mtp_of_files
from engines.cancel import CancelToken
from engines.errors import Cancelled, UserError

COPYING = "copying"
LISTING = "listing"

_Taken = tuple[ModelEntry, list[str] | None]
"""What was taken in; of a drafter, with the names of the models that it drafts for."""

_Listing = tuple[list[ModelEntry], list[ModelEntry]]
"""Models, and drafters that were added."""


@dataclass(frozen=True)
class Removed:
    """What became of a model. files: in the trash now; none, if it only left the list.

    frees: bytes, once the trash is emptied. own: the settings that it had for itself.
    """

    entry: ModelEntry
    files: tuple[Path, ...]
    frees: int
    own: Mapping[str, object]


class Models(QObject):
    """The window's thread never waits for folders to be looked into: the list is kept here.

    listed(): it is another. added(ModelEntry) and removed(Removed) follow when it has changed.

    drafter_added(ModelEntry, names): a file that drafts for the models of these names.
    copying(path, share): a file is being copied, 0.0 to 1.0; copy_ended() when it is or is not.
    mtp_known(model, sentence): what its files say of multi-token prediction; mtp_told: the last.
    """

    listed = Signal()
    added = Signal(object)
    drafter_added = Signal(object, object)
    copying = Signal(str, float)
    copy_ended = Signal()
    removed = Signal(object)
    mtp_known = Signal(str, str)
    failed = Signal(Exception)

    def __init__(
        self,
        library: Library,
        care: ModelManager,
        tasks: Tasks,
        advise: Advise,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._advise = advise
        self._care = care
        self._tasks = tasks
        self._listing: _Listing | None = None
        self._looked: tuple[str, _Listing] | None = None
        self.mtp_told: tuple[str, str] | None = None
        self._copies: list[Task] = []

    def list(self) -> list[ModelEntry]:
        """As they were when they were looked for last; before that, only the guide."""
        return self._listing[0] if self._listing else [self._library.starter]

    def look(self, then: Callable[[], object] = lambda: None) -> None:
        """Look for models where something has changed. then: called once they are listed."""

        def work() -> _Listing:
            return self._library.entries(), self._library.drafters()

        def done(found: _Listing) -> None:
            before, self._listing = self._listing, found
            if found != before:
                self.listed.emit()
            then()

        self._tasks.run(work, done, self.failed.emit, on=LISTING)

    def add(self, path: Path, *, copy: bool = False) -> None:
        """Check a file and add it where it lies, or a copy of it in Hearth's folder."""
        last = -1

        def progress(share: float) -> None:
            nonlocal last
            if round(share * 200) != last:
                last = round(share * 200)
                self.copying.emit(str(path), share)

        def work(cancel: CancelToken) -> Iterator[_Taken]:
            entry = self._care.take_in(path, copy=copy, progress=progress, cancel=cancel)
            targets = [it.name for it in self._library.drafts_for(entry)] if entry.drafts else None
            yield entry, targets

        def failed(error: Exception) -> None:
            self.copy_ended.emit()
            if not isinstance(error, Cancelled):
                self.failed.emit(error)

        task = self._tasks.stream(work, self._came, self.copy_ended.emit, failed, on=COPYING)
        self._copies.append(task)

    def stop_copying(self) -> None:
        """End the copies that are under way or wait; nothing of them is left."""
        for task in self._copies:
            task.cancel()
        self._copies.clear()

    def remove(self, model_id: str, *, with_file: bool = False) -> None:
        """Take a model off the list, or move its file to the trash."""

        def work() -> Removed:
            own = self._care.settings(model_id)
            gone = self._care.delete(model_id, with_file=with_file)
            return Removed(gone.entry, gone.files, gone.frees, own)

        def done(removed: Removed) -> None:
            self.look(lambda: self.removed.emit(removed))

        self._tasks.run(work, done, self.failed.emit, on=STORE)

    def restore(self, removed: Removed) -> None:
        """Put what only left the list back on it, with its name and settings."""

        def work() -> None:
            before = removed.entry
            entry = self._library.add(before.path)
            if entry.name != before.name:
                self._care.rename(entry.id, before.name)
            for name, value in removed.own.items():
                self._care.set(entry.id, name, value)

        self._tasks.run(work, lambda _: self.look(), self.failed.emit, on=STORE)

    def look_for_mtp(self, called: str) -> None:
        """Read what a model's files say; emits mtp_known with `called` and the sentence.

        Files that cannot be read have their reason for it there too. Nothing is read again while
        the list of models stays as it is, and nothing before there is one.
        """
        if self._listing is None or (called, self._listing) == self._looked:
            return
        asked = called, self._listing
        self._looked = asked

        def look() -> str:
            try:
                return mtp_of_files(self._library, self._library.find(called), self._advise)
            except UserError as error:
                return f"{error.what} {error.why}"

        def tell(sentence: str) -> None:
            self.mtp_told = called, sentence
            self.mtp_known.emit(called, sentence)

        self._tasks.run(look, tell, self.failed.emit, on=SYSTEM)

    def _came(self, found: Sequence[_Taken]) -> None:
        for entry, targets in found:
            if targets is None:
                self.look(partial(self.added.emit, entry))
            else:
                self.look(partial(self.drafter_added.emit, entry, targets))
