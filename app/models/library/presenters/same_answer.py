"""A check in the window of whether MTP changes an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from app.kit.tasks.tasks import ENGINE, Failed, Task, Tasks
from app.models.library.services.library import Library
from app.models.library.values.same_answer import PromptComparison
from app.settings.presenters import SettingsService
from engines.cancel import CancelToken
from engines.errors import Cancelled

if TYPE_CHECKING:
    from app.activity.services.measuring.bench import Bench
    from app.activity.values.bench_results import BenchStep

TOKENS = 64
"""How many tokens the answer to each prompt has."""

_DEPTHS = ((1,), (2,), (4,), (8,))


class SameAnswer:
    """A check of MTP with the engine to itself: answers wait while it runs; `stop` ends it."""

    def __init__(
        self,
        bench: Bench,
        library: Library,
        settings: SettingsService,
        tasks: Tasks,
    ) -> None:
        self._bench = bench
        self._library = library
        self._settings = settings
        self._tasks = tasks
        self._task: Task | None = None

    @property
    def is_running(self) -> bool:
        """True if a check is under way."""
        return self._task is not None

    def start(
        self,
        progress: Callable[[BenchStep], object],
        done: Callable[[Sequence[PromptComparison]], object],
        failed: Failed,
    ) -> None:
        """Check the model in use; does nothing while a check is running.

        Args:
            progress: Receives each step of the comparison.
            failed: Receives the error, or Cancelled if the check was stopped.
        """
        if self._task is not None:
            return
        settings, results = self._settings.current, list[PromptComparison]()

        def work(cancel: CancelToken) -> Iterator[BenchStep | PromptComparison]:
            if not cancel.cancelled:
                entry = self._library.find(settings.model)
                effective_settings = self._library.effective(entry, settings)
                yield from self._bench.compare(
                    entry, effective_settings, _DEPTHS, TOKENS, lambda _: None, cancel
                )

        def take(events: list[BenchStep | PromptComparison]) -> None:
            for event in events:
                if isinstance(event, PromptComparison):
                    results.append(event)
                else:
                    progress(event)

        def end() -> None:
            self._task = None
            if task.token.cancelled:
                failed(Cancelled())
            else:
                done(results)

        def fail(error: Exception) -> None:
            self._task = None
            failed(error)

        task = self._task = self._tasks.stream(work, take, end, fail, on=ENGINE)

    def stop(self) -> None:
        """Stop the check that is under way; its `failed` then receives Cancelled."""
        if self._task is not None:
            self._task.cancel()
