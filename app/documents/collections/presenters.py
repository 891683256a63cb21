"""Collections of documents, for the window; their indexes are kept up to date in the background."""

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
"""The least time between two tidings of the indexing, however fast it is."""

FIRST_MS: Final = 4_000
"""How long after the start the folders are looked through: what is seen first comes before."""

AGAIN_MS: Final = 10 * 60_000
"""How often the folders are looked through for changes."""

_MOST: Final = 10
"""Passages that a search brings."""

_LONGEST_REST_S: Final = 1.0

T = TypeVar("T")


class Collections(QObject):
    """The user's collections as the window shows them.

    changed(): there is another list of them, or they are read further; at most twice a second.
    found_embedder(EmbedderStatus, Offer or None): which model finds by meaning, or one to be had.
    failed(error). states: as they were told last. progress: what is being done, by ids.
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
        """Begin. busy: whether somebody waits for an answer, which vectors are not made beside."""
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
        self._told: set[str] = set()
        self._soon = self._timer(EVERY_MS, self.look, single=True)
        self._first = self._timer(FIRST_MS, self.work, single=True)
        self._again = self._timer(AGAIN_MS, self.work)
        for timer in (self._first, self._again):
            timer.start()
        tasks.closing.connect(self._close)

    def all(self) -> list[DocumentCollection]:
        """Return all collections by their names."""
        return [it.collection for it in self.states]

    def state(self, collection: str) -> CollectionState | None:
        """Return how far a collection is; None where there is none of this id."""
        return next((it for it in self.states if it.collection.id == collection), None)

    def look(self) -> None:
        """Read how far all collections are."""
        if self._looking:
            self._look_again = True
            return
        self._soon.stop()
        self._looking = True
        self._tasks.run(self._read_states, self._tell, self._not_read, on=COLLECTIONS)

    def look_for_embedder(self) -> None:
        """Find out which model finds by meaning; one that has come is put to work."""

        def work() -> tuple[EmbedderStatus, Offer | None]:
            from app.models.discover.presenters.offering import embedder_offer

            status = self._knowledge().embedder()
            offers = (embedder_offer(self._catalogue(), it) for it in status.offers)
            return status, next(filter(None, offers), None)

        def have(found: tuple[EmbedderStatus, Offer | None]) -> None:
            before, (self._embedder, self.offer) = self._embedder, found
            self.found_embedder.emit(*found)
            if before is not None and before.model != found[0].model:
                self.work()

        self._tasks.run(work, have, self.failed.emit, on=COLLECTIONS)

    def look_again_for_embedder(self) -> None:
        """Find out anew as the models here are others, for whoever has been told before."""
        if self._embedder is not None:
            self.look_for_embedder()

    def work(self) -> None:
        """Look through the folders, and read what is new; if that goes on already, once more."""
        if self._task is not None:
            self._work_again = True
            return
        self._work_again = False

        def work(cancel: CancelToken) -> Iterator[IndexProgress]:
            knowledge = self._knowledge()
            if knowledge.collections():
                from app.documents.collections.services.indexing import Manners

                manners = Manners(self._busy, lambda it: cancel.wait(min(it, _LONGEST_REST_S)))
                yield from knowledge.work(cancel, manners)

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
        """Make a collection of files and folders."""

        def work() -> DocumentCollection:
            knowledge = self._knowledge()
            made = knowledge.create(name)
            try:
                return knowledge.add(made.id, paths)
            except UserError:
                knowledge.remove(made.id)
                raise

        self._order(work, done, failed)

    def rename(
        self, collection: str, name: str, done: Callable[[], object], failed: Failed
    ) -> None:
        self._order(lambda: self._knowledge().rename(collection, name), lambda _: done(), failed)

    def add(self, collection: str, paths: Sequence[Path]) -> None:
        self._order(lambda: self._knowledge().add(collection, paths))

    def take_out(self, collection: str, path: Path) -> None:
        """Take a file or folder that was added out of a collection; it is not changed itself."""
        self._order(lambda: self._knowledge().take_out(collection, path))

    def pause(self, collection: str) -> None:
        self._order(lambda: self._knowledge().pause(collection, paused=True))

    def resume(self, collection: str) -> None:
        self._order(lambda: self._knowledge().pause(collection, paused=False))

    def read_again(self, collection: str) -> None:
        """Look for changes now, and try again what could not be read."""
        self._order(lambda: self._knowledge().read_again(collection))

    def remove(self, collection: str) -> None:
        """Remove a collection; its files stay where they are."""
        self._order(lambda: self._knowledge().remove(collection))

    def files(
        self, collection: str, done: Callable[[list[IndexedFile]], object], failed: Failed
    ) -> None:
        """List the files of a collection; only the last one asked for is told."""
        self._files.run(lambda: self._knowledge().files(collection), done, failed)

    def search(
        self,
        collection: str,
        words: str,
        done: Callable[[list[FoundPassage]], object],
        failed: Failed,
    ) -> None:
        """Find the passages that suit some words; only the last search is told."""

        def work() -> list[FoundPassage]:
            return self._knowledge().search([collection], words, _MOST, CancelToken())

        self._searches.run(work, done, failed)

    def _order(
        self,
        work: Callable[[], T],
        done: Callable[[T], object] = lambda _: None,
        failed: Failed | None = None,
    ) -> None:
        """Change something, then read what there is now, and do what follows from it."""

        def changed(result: T) -> None:
            self._tell_then(lambda: done(result))
            self.work()

        self._tasks.run(work, changed, failed or self.failed.emit, on=COLLECTIONS)

    def _tell_then(self, then: Callable[[], object]) -> None:
        def have(found: tuple[tuple[CollectionState, ...], UserError | None]) -> None:
            self._show(found)
            then()

        self._tasks.run(self._read_states, have, self.failed.emit, on=COLLECTIONS)

    def _read_states(self) -> tuple[tuple[CollectionState, ...], UserError | None]:
        """Read all states, and what went wrong with one of them, which hinders no other."""
        from app.base.errors import CollectionUnknown
        from app.documents.collections.values import CollectionState

        knowledge, states = self._knowledge(), []
        error: UserError | None = None
        for it in knowledge.collections():
            try:
                states.append(knowledge.state(it.id))
            except CollectionUnknown:
                continue  # it has just been removed
            except UserError as fault:
                states.append(CollectionState(it))
                error = fault
        return tuple(states), error

    def _tell(self, found: tuple[tuple[CollectionState, ...], UserError | None]) -> None:
        self._looking = False
        self._show(found)
        if self._look_again:
            self._look_again = False
            self._soon.start()

    def _show(self, found: tuple[tuple[CollectionState, ...], UserError | None]) -> None:
        self.states, error = found
        self.changed.emit()
        if error is not None and str(error) not in self._told:
            self._told.add(str(error))
            self.failed.emit(error)

    def _not_read(self, error: Exception) -> None:
        self._looking = False
        self.failed.emit(error)

    def _progressed(self, news: list[IndexProgress]) -> None:
        for it in news:
            self.progress = {it.collection.id: it}  # one is worked on at a time
        if not self._soon.isActive():
            self._soon.start()

    def _worked(self) -> None:
        self._task = None
        self.progress = {}
        self.look()
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
        for timer in (self._soon, self._first, self._again):
            timer.stop()
