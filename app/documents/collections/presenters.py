"""The collections of documents for the window; their indexes are updated in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from app.kit.tasks.latest import Latest
from app.kit.tasks.tasks import Failed, Task, Tasks
from engines.cancel import CancelToken
from engines.errors import UserError

if TYPE_CHECKING:
    from app.documents.collections.services.knowledge import Knowledge
    from app.documents.collections.values import (
        CollectionState,
        DocumentCollection,
        EmbedderStatus,
        FoundPassage,
        IndexedFile,
        IndexProgress,
    )
    from app.models.discover.values.catalogue import Catalogue
    from app.models.discover.values.offers import Offer

COLLECTIONS: Final = "collections"
INDEXING: Final = "collections-indexing"
SEARCHING: Final = "collections-search"

EVERY_MS: Final = 500
"""Minimum milliseconds between two `changed` signals while indexing, however fast it is."""

FIRST_MS: Final = 4_000
"""Milliseconds after the start before folders are scanned, so that the window comes up first."""

AGAIN_MS: Final = 10 * 60_000
"""Milliseconds between two scans of the folders for changes."""

_MOST: Final = 10
"""Maximum number of passages that a search returns."""

_LONGEST_REST_S: Final = 1.0

T = TypeVar("T")


class Collections(QObject):
    """The user's collections as the window shows them.

    Attributes:
        states: The states of the collections, as of the last `changed`.
        progress: The current work, by collection id.
        offer: An embedding model to download; None if there is none.

    Signals:
        changed(): The list of collections or their progress changed; at most twice a second.
        found_embedder(EmbedderStatus, Offer or None): The embedding model in use, or one to
            download, is known.
        failed(error): Something failed.
    """

    changed = Signal()
    found_embedder = Signal(object, object)
    failed = Signal(Exception)

    def __init__(
        self,
        knowledge: Callable[[], Knowledge],
        catalogue: Callable[[], Catalogue],
        busy: Callable[[], bool],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        """Create the presenter and start the timers.

        Args:
            knowledge: Returns the collections' service.
            catalogue: Returns the catalogue of models.
            busy: Returns whether someone is waiting for an answer; no vectors are made then.
        """
        super().__init__(parent)
        self.states: tuple[CollectionState, ...] = ()
        self.progress: dict[str, IndexProgress] = {}
        self.offer: Offer | None = None
        self._knowledge = knowledge
        self._catalogue = catalogue
        self._busy = busy
        self._tasks = tasks
        self._files = Latest(tasks, COLLECTIONS)
        self._searches = Latest(tasks, SEARCHING)
        self._task: Task | None = None
        self._work_again = False
        self._looking = self._look_again = False
        self._embedder: EmbedderStatus | None = None
        self._reported_errors: set[str] = set()
        self._refresh_timer = self._timer(EVERY_MS, self.refresh, single=True)
        self._first_timer = self._timer(FIRST_MS, self.work, single=True)
        self._work_timer = self._timer(AGAIN_MS, self.work)
        for timer in (self._first_timer, self._work_timer):
            timer.start()
        tasks.closing.connect(self._close)

    def all(self) -> list[DocumentCollection]:
        """Return all collections, sorted by name."""
        return [state.collection for state in self.states]

    def state(self, collection: str) -> CollectionState | None:
        """Return the state of a collection; None if there is none with this id."""
        return next((state for state in self.states if state.collection.id == collection), None)

    def refresh(self) -> None:
        """Read the states of all collections."""
        if self._looking:
            self._look_again = True
            return
        self._refresh_timer.stop()
        self._looking = True
        self._tasks.run(self._read_states, self._show_states, self._not_read, on=COLLECTIONS)

    def refresh_embedder(self) -> None:
        """Find the embedding model in use; if it is a new one, start indexing with it."""

        def work() -> tuple[EmbedderStatus, Offer | None]:
            from app.models.discover.presenters.offering import embedder_offer

            status = self._knowledge().embedder()
            offers = (embedder_offer(self._catalogue(), offer) for offer in status.offers)
            return status, next(filter(None, offers), None)

        def have(found: tuple[EmbedderStatus, Offer | None]) -> None:
            before, (self._embedder, self.offer) = self._embedder, found
            self.found_embedder.emit(*found)
            if before is not None and before.model != found[0].model:
                self.work()

        self._tasks.run(work, have, self.failed.emit, on=COLLECTIONS)

    def recheck_embedder(self) -> None:
        """Find the embedding model again, as the local models changed, if it was found before."""
        if self._embedder is not None:
            self.refresh_embedder()

    def work(self) -> None:
        """Scan the folders and index new files; if that is running, do it once more afterwards."""
        if self._task is not None:
            self._work_again = True
            return
        self._work_again = False

        def work(cancel: CancelToken) -> Iterator[IndexProgress]:
            knowledge = self._knowledge()
            if knowledge.collections():
                from app.documents.collections.services.indexing import Politeness

                politeness = Politeness(
                    self._busy, lambda seconds: cancel.wait(min(seconds, _LONGEST_REST_S))
                )
                yield from knowledge.work(cancel, politeness)

        self._task = self._tasks.stream(
            work, self._progressed, self._worked, self._not_worked, on=INDEXING
        )

    def create(
        self,
        name: str,
        paths: Sequence[Path],
        done: Callable[[DocumentCollection], object],
        failed: Failed,
    ) -> None:
        """Create a collection of files and folders."""

        def work() -> DocumentCollection:
            knowledge = self._knowledge()
            collection = knowledge.create(name)
            try:
                return knowledge.add(collection.id, paths)
            except UserError:
                knowledge.remove(collection.id)
                raise

        self._order(work, done, failed)

    def rename(
        self, collection: str, name: str, done: Callable[[], object], failed: Failed
    ) -> None:
        """Give a collection another name, then call `done` or `failed`."""
        self._order(lambda: self._knowledge().rename(collection, name), lambda _: done(), failed)

    def add(self, collection: str, paths: Sequence[Path]) -> None:
        """Add files and folders to a collection, and start to index them."""
        self._order(lambda: self._knowledge().add(collection, paths))

    def remove_path(self, collection: str, path: Path) -> None:
        """Remove an added file or folder from a collection; the file itself is not changed."""
        self._order(lambda: self._knowledge().remove_path(collection, path))

    def pause(self, collection: str) -> None:
        """Stop indexing a collection until it is resumed."""
        self._order(lambda: self._knowledge().pause(collection, paused=True))

    def resume(self, collection: str) -> None:
        """Go on indexing a collection."""
        self._order(lambda: self._knowledge().pause(collection, paused=False))

    def read_again(self, collection: str) -> None:
        """Look for changes now, and retry files that could not be read."""
        self._order(lambda: self._knowledge().read_again(collection))

    def remove(self, collection: str) -> None:
        """Remove a collection; its files stay where they are."""
        self._order(lambda: self._knowledge().remove(collection))

    def files(
        self, collection: str, done: Callable[[list[IndexedFile]], object], failed: Failed
    ) -> None:
        """List the files of a collection; only the latest request is answered."""
        self._files.run(lambda: self._knowledge().files(collection), done, failed)

    def search(
        self,
        collection: str,
        words: str,
        done: Callable[[list[FoundPassage]], object],
        failed: Failed,
    ) -> None:
        """Find passages for some words; only the latest search is answered."""

        def work() -> list[FoundPassage]:
            return self._knowledge().search([collection], words, _MOST, CancelToken())

        self._searches.run(work, done, failed)

    def _order(
        self,
        work: Callable[[], T],
        done: Callable[[T], object] = lambda _: None,
        failed: Failed | None = None,
    ) -> None:
        """Make a change, then read the states and do the work that follows from it."""

        def changed(result: T) -> None:
            self._check_then(lambda: done(result))
            self.work()

        self._tasks.run(work, changed, failed or self.failed.emit, on=COLLECTIONS)

    def _check_then(self, action: Callable[[], object]) -> None:
        def have(found: tuple[tuple[CollectionState, ...], UserError | None]) -> None:
            self._show(found)
            action()

        self._tasks.run(self._read_states, have, self.failed.emit, on=COLLECTIONS)

    def _read_states(self) -> tuple[tuple[CollectionState, ...], UserError | None]:
        """Read all states. An error in one collection does not affect the others.

        Returns:
            The states, and the last error.
        """
        from app.base.errors import CollectionUnknown
        from app.documents.collections.values import CollectionState

        knowledge, states = self._knowledge(), []
        error: UserError | None = None
        for collection in knowledge.collections():
            try:
                states.append(knowledge.state(collection.id))
            except CollectionUnknown:
                continue  # it was removed just now
            except UserError as fault:
                states.append(CollectionState(collection))
                error = fault
        return tuple(states), error

    def _show_states(self, found: tuple[tuple[CollectionState, ...], UserError | None]) -> None:
        self._looking = False
        self._show(found)
        if self._look_again:
            self._look_again = False
            self._refresh_timer.start()

    def _show(self, found: tuple[tuple[CollectionState, ...], UserError | None]) -> None:
        self.states, error = found
        self.changed.emit()
        if error is not None and str(error) not in self._reported_errors:
            self._reported_errors.add(str(error))
            self.failed.emit(error)

    def _not_read(self, error: Exception) -> None:
        self._looking = False
        self.failed.emit(error)

    def _progressed(self, news: list[IndexProgress]) -> None:
        for latest in news:
            self.progress = {latest.collection.id: latest}  # one collection is worked on at a time
        if not self._refresh_timer.isActive():
            self._refresh_timer.start()

    def _worked(self) -> None:
        self._task = None
        self.progress = {}
        self.refresh()
        if self._work_again:
            self.work()

    def _not_worked(self, error: Exception) -> None:
        self._worked()
        self.failed.emit(error)

    def _timer(self, ms: int, act: Callable[[], object], *, single: bool = False) -> QTimer:
        timer = QTimer(self)
        timer.setInterval(ms)
        timer.setSingleShot(single)
        timer.timeout.connect(act)
        return timer

    def _close(self) -> None:
        for timer in (self._refresh_timer, self._first_timer, self._work_timer):
            timer.stop()
