"""The library for the window: listing, adding and removing models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.tasks import STORE, SYSTEM, Failed, Task, Tasks
from app.models.library.services.library import Library
from app.models.library.services.manager import ModelManager
from app.models.library.services.mtp_advice import mtp_of_files
from app.models.library.values.entry import ModelEntry
from app.models.library.values.memory_use import Fits
from engines.cancel import CancelToken
from engines.errors import Cancelled, UserError
from engines.models.format import Advise
from engines.sentences import joined

COPYING = "copying"
LISTING = "listing"

_Added = tuple[ModelEntry, list[str] | None]
"""An added model; for a drafter, also the names of the models that it drafts for."""

_Listing = tuple[list[ModelEntry], list[ModelEntry]]
"""The models, and the drafters that were added."""


@dataclass(frozen=True)
class RemovedModel:
    """A model that was removed.

    Attributes:
        files: Files that are in the trash now; empty if the model only left the list.
        frees: Bytes that emptying the trash will free.
        own: The settings that were the model's own.
    """

    entry: ModelEntry
    files: tuple[Path, ...]
    frees: int
    own: Mapping[str, object]


class Models(QObject):
    """The list of models, cached so that the UI thread never waits for folders.

    Args:
        judge: Returns by id whether each model fits into the memory; called off the UI thread.

    Attributes:
        last_mtp: The last values of `mtp_read`.

    Signals:
        listed: The list has changed, or whether a model fits; emitted before `done` of the method
            that changed it.
        copying: The path of a file that is being copied, and the share done, from 0.0 to 1.0.
        copy_ended: The copy is complete, or ended without success.
        mtp_read: A model and the sentence on what its files offer for multi-token prediction.
        failed: The error of a request.
    """

    listed = Signal()
    copying = Signal(str, float)
    copy_ended = Signal()
    mtp_read = Signal(str, str)
    failed = Signal(Exception)

    def __init__(
        self,
        library: Library,
        manager: ModelManager,
        tasks: Tasks,
        advise: Advise,
        judge: Callable[[Sequence[ModelEntry]], Mapping[str, Fits]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._advise = advise
        self._judge = judge
        self._fits: Mapping[str, Fits] = {}
        self._manager = manager
        self._tasks = tasks
        self._listing: _Listing | None = None
        self._mtp_read_for: tuple[str, _Listing] | None = None
        self.last_mtp: tuple[str, str] | None = None
        self._copies: list[Task] = []

    def list(self) -> list[ModelEntry]:
        """Return the models as last found; before the first search, only the built-in model."""
        return self._listing[0] if self._listing else [self._library.starter]

    def look(self, then: Callable[[], object] = lambda: None) -> None:
        """Search for models again where something has changed.

        Args:
            then: Called once the models are listed.
        """

        def work() -> _Listing:
            return self._library.entries(), self._library.drafters()

        def done(listing: _Listing) -> None:
            before, self._listing = self._listing, listing
            self._show_fits()
            if listing != before:
                self.listed.emit()
            then()

        self._tasks.run(work, done, self.failed.emit, on=LISTING)

    def judge(self, then: Callable[[], object] = lambda: None) -> None:
        """Judge which models fit into the memory that is free now.

        Lists call it when they open: memory changes all the time, and before the first list the
        start has more urgent things to do.

        Args:
            then: Called once the verdicts are in the list, or it is known that there are none.
        """
        entries = self.list()

        def done(fits: Mapping[str, Fits]) -> None:
            if fits != self._fits:
                self._fits = fits
                self._show_fits()
                self.listed.emit()
            then()

        def failed(error: Exception) -> None:
            self.failed.emit(error)
            then()

        self._tasks.run(lambda: self._judge(entries), done, failed, on=SYSTEM)

    def _show_fits(self) -> None:
        """Put the verdicts into the list."""
        if self._listing is not None:
            models, drafters = self._listing
            fits = self._fits
            judged = [replace(entry, fits=fits.get(entry.id, "")) for entry in models]
            self._listing = judged, drafters

    def add(
        self,
        path: Path,
        *,
        copy: bool = False,
        done: Callable[[ModelEntry, Sequence[str] | None], object],
        failed: Failed,
    ) -> None:
        """Check a file and add it where it is, or copy it to Hearth's folder and add the copy.

        Args:
            done: Receives the entry and, for a drafter, the names of the models that it drafts for.
                Neither `done` nor `failed` is called for a copy that the user stops.
        """
        last = -1

        def progress(share: float) -> None:
            nonlocal last
            if round(share * 200) != last:
                last = round(share * 200)
                self.copying.emit(str(path), share)

        def work(cancel: CancelToken) -> Iterator[_Added]:
            entry = self._manager.import_model(path, copy=copy, progress=progress, cancel=cancel)
            targets = (
                [model.name for model in self._library.drafts_for(entry)] if entry.drafts else None
            )
            yield entry, targets

        def show_added(added_models: Sequence[_Added]) -> None:
            for added in added_models:
                self.look(partial(done, *added))

        def failed_or_stopped(error: Exception) -> None:
            self.copy_ended.emit()
            if not isinstance(error, Cancelled):
                failed(error)

        task = self._tasks.stream(
            work, show_added, self.copy_ended.emit, failed_or_stopped, on=COPYING
        )
        self._copies.append(task)

    def why_no_models(
        self, paths: Sequence[Path], done: Callable[[Sequence[UserError]], object]
    ) -> None:
        """Read files that are only named like models; `done` receives the error of each."""

        def work() -> Sequence[UserError]:
            errors = []
            for path in paths:
                try:
                    self._library.require_addable(path)
                except UserError as error:
                    errors.append(error)
            return errors

        self._tasks.run(work, done, self.failed.emit, on=SYSTEM)

    def stop_copying(self) -> None:
        """Stop the copies that are under way or waiting, and remove their files."""
        for task in self._copies:
            task.cancel()
        self._copies.clear()

    def remove(
        self,
        model_id: str,
        *,
        with_file: bool,
        done: Callable[[RemovedModel], object],
        failed: Failed,
    ) -> None:
        """Remove a model from the list, or move its file to the trash."""

        def work() -> RemovedModel:
            own = self._manager.settings(model_id)
            deleted = self._manager.delete(model_id, with_file=with_file)
            return RemovedModel(deleted.entry, deleted.files, deleted.frees, own)

        self._tasks.run(work, lambda removed: self.look(partial(done, removed)), failed, on=STORE)

    def restore(self, removed: RemovedModel) -> None:
        """Put a model that only left the list back on it, with its name and settings."""

        def work() -> None:
            before = removed.entry
            entry = self._library.add(before.path)
            if entry.name != before.name:
                self._manager.rename(entry.id, before.name)
            for name, value in removed.own.items():
                self._manager.set(entry.id, name, value)

        self._tasks.run(work, lambda _: self.look(), self.failed.emit, on=STORE)

    def read_mtp(self, called: str) -> None:
        """Read how a model drafts, and emit `mtp_read` with `called` and a sentence.

        If its files cannot be read, the sentence says why. Nothing is read before there is a list,
        nor again for the same model while the list stays the same.
        """
        if self._listing is None or (called, self._listing) == self._mtp_read_for:
            return
        request = called, self._listing
        self._mtp_read_for = request

        def read() -> str:
            try:
                return mtp_of_files(self._library, self._library.find(called), self._advise)
            except UserError as error:
                return joined(" ", (error.what, error.why))

        def show(sentence: str) -> None:
            self.last_mtp = called, sentence
            self.mtp_read.emit(called, sentence)

        self._tasks.run(read, show, self.failed.emit, on=SYSTEM)
