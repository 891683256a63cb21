"""Work of which only the last counts, such as a search while its words are still changing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from app.presenters.tasks import Failed, Tasks

T = TypeVar("T")


class Latest:
    """Hands work to a queue; what comes of anything but the last is dropped."""

    def __init__(self, tasks: Tasks, on: str) -> None:
        self._tasks = tasks
        self._on = on
        self._number = 0

    def run(self, work: Callable[[], T], done: Callable[[T], None], failed: Failed) -> None:
        """As `Tasks.run`; work that has been overtaken before its turn is not even begun."""
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
        """Nothing that was asked for is wanted any more."""
        self._number += 1
