"""The activity of the engines, for the window."""

from __future__ import annotations

from collections.abc import Callable

from app.activity.services.activity import ActivityReader
from app.activity.values.activity import ActivityReport
from app.kit.tasks.tasks import SYSTEM, Failed, Tasks


class Activity:
    """The activity of the engines, read in the background, one report at a time."""

    def __init__(self, reader: ActivityReader, tasks: Tasks) -> None:
        self._reader = reader
        self._tasks = tasks
        self._is_reading = False

    def refresh(self, done: Callable[[ActivityReport], object], failed: Failed) -> None:
        """Read a report; do nothing if one is already being read."""
        if self._is_reading:
            return
        self._is_reading = True

        def finish(report: ActivityReport) -> None:
            self._is_reading = False
            done(report)

        def fail(error: Exception) -> None:
            self._is_reading = False
            failed(error)

        self._tasks.run(self._reader.read, finish, fail, on=SYSTEM)
