"""Work of which only the latest counts, such as a search while the user still types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from app.kit.tasks.tasks import Failed, Tasks

T = TypeVar("T")


class Latest:
    """A queue that delivers only the result of the work that was handed in last.

    Args:
        tasks: Runs the work.
        on: The name of the queue.
    """

    def __init__(self, tasks: Tasks, on: str) -> None:
        self._tasks = tasks
        self._on = on
        self._number = 0

    def run(self, work: Callable[[], T], done: Callable[[T], object], failed: Failed) -> None:
        """Run work as `Tasks.run` does; work that newer work replaces in the queue never starts."""
        self._number += 1
        number = self._number

        def carry_out() -> T | None:
            return work() if number == self._number else None

        def finish(result: T | None) -> None:
            if number == self._number and result is not None:
                done(result)

        def fail(error: Exception) -> None:
            if number == self._number:
                failed(error)

        self._tasks.run(carry_out, finish, fail, on=self._on)

    def forget(self) -> None:
        """Drop the results of all work handed in so far."""
        self._number += 1
