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
        self._looking = False

    def look(self, done: Callable[[ActivityReport], object], failed: Failed) -> None:
        """Read a report; do nothing if one is already being read."""
        if self._looking:
            return
        self._looking = True

        def have(report: ActivityReport) -> None:
            self._looking = False
            done(report)

        def broke(error: Exception) -> None:
            self._looking = False
            failed(error)

        self._tasks.run(self._reader.read, have, broke, on=SYSTEM)
