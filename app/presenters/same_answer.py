"""Checking in the window whether MTP changes the answer."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, Signal

from app.core.engines.same_answer import Compared
from app.presenters.settings import SettingsService
from app.presenters.tasks import ENGINE, Task, Tasks
from app.services.measuring.bench import Bench
from app.services.measuring.results import Step
from app.services.models.library import Library
from engines.cancel import CancelToken
from engines.errors import Cancelled, UserError

TOKENS = 64
"""For each prompt."""

_DEPTHS = ((1,), (2,), (4,), (8,))


class SameAnswer(QObject):
    """Has the engine alone: answers wait while it runs, so it can be stopped at any time.

    progress(Step): what is being compared. ended(list of Compared): all of it was.
    stopped(): it was cancelled. failed(UserError): it cannot be done. crashed(error): a bug of
    ours.
    """

    progress = Signal(object)
    ended = Signal(object)
    stopped = Signal()
    failed = Signal(Exception)
    crashed = Signal(Exception)

    def __init__(
        self,
        bench: Bench,
        library: Library,
        settings: SettingsService,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bench = bench
        self._library = library
        self._settings = settings
        self._tasks = tasks
        self._task: Task | None = None
        self._found: list[Compared] = []

    @property
    def is_running(self) -> bool:
        return self._task is not None

    def start(self) -> None:
        """Check the model in use. Does nothing while a check is running."""
        if self._task is not None:
            return
        settings = self._settings.current

        def work(cancel: CancelToken) -> Iterator[Step | Compared]:
            if not cancel.cancelled:
                entry = self._library.find(settings.model)
                held = self._library.effective(entry, settings)
                yield from self._bench.compare(entry, held, _DEPTHS, TOKENS, lambda _: None, cancel)

        self._found = []
        self._task = self._tasks.stream(work, self._take, self._end, self._fail, on=ENGINE)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _take(self, events: list[Step | Compared]) -> None:
        for event in events:
            if isinstance(event, Compared):
                self._found.append(event)
            else:
                self.progress.emit(event)

    def _end(self) -> None:
        cancelled = self._task is not None and self._task.token.cancelled
        self._task = None
        if cancelled:
            self.stopped.emit()
        else:
            self.ended.emit(self._found)

    def _fail(self, error: Exception) -> None:
        self._task = None
        if isinstance(error, Cancelled):
            self.stopped.emit()
        elif isinstance(error, UserError):
            self.failed.emit(error)
        else:
            self.crashed.emit(error)
