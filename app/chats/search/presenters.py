"""Searches all chats while the user types, and keeps the index up to date in the background."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.chats.search.services import catch_up, steps
from app.chats.search.store.search import Search
from app.chats.search.store.search_index import SearchIndex
from app.chats.search.values.hits import Hit
from app.kit.tasks.latest import Latest
from app.kit.tasks.tasks import Task, Tasks
from app.kit.timer import timer

SEARCH = "search"
INDEX = "search index"
"""Separate task queues, so that no writer, no answer and no indexing delays a search."""

_PAUSE_MS = 1_000


class ChatSearch(QObject):
    """The search over all chats.

    Signals:
        found(words, hits): A list of Hit, the newest first; only for the latest words.
        indexed(share): How much of the text from before the index can be found now, 0.0 to 1.0; the
            newest is indexed first.
        failed(error): Searching or indexing failed.
    """

    found = Signal(str, object)
    indexed = Signal(float)
    failed = Signal(Exception)

    def __init__(
        self, search: Search, index: SearchIndex, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._search = search
        self._index = index
        self._tasks = tasks
        self._latest = Latest(tasks, SEARCH)
        self._reading: Task | None = None
        self._pause = timer(self, _PAUSE_MS, self._read)
        self._closed = False
        tasks.closing.connect(self._close)

    def search(self, words: str, limit: int = 50) -> None:
        """Search all chats except those in the trash; a later call replaces this one.

        Args:
            words: Any text.
        """

        def work() -> list[Hit]:
            catch_up(self._index)
            return self._search.find(words, limit)

        self._latest.run(work, lambda hits: self.found.emit(words, hits), self.failed.emit)

    def keep_in_step(self) -> None:
        """Index changes shortly; connect this to every signal of a change to a chat."""
        if not self._closed and not self._pause.isActive():
            self._pause.start()

    def _close(self) -> None:
        self._closed = True
        self._pause.stop()

    def _read(self) -> None:
        if self._reading is not None:
            self._pause.start()
            return

        def over() -> None:
            self._reading = None

        def failed(error: Exception) -> None:
            over()
            self.failed.emit(error)

        self._reading = self._tasks.stream(
            lambda cancel: steps(self._index, cancel),
            lambda shares: self.indexed.emit(shares[-1]),
            over,
            failed,
            on=INDEX,
        )
