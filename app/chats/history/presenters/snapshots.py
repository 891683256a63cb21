"""Takes a snapshot of all chats once a day while Hearth is open, and counts the day."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.base.snapshots import Snapshots
from app.kit.tasks.tasks import STORE, Task, Tasks
from app.settings.presenters import SettingsService
from engines.cancel import CancelToken

SNAPSHOTS = "snapshots"
"""A separate task queue, because copying a long history takes a while."""

_FIRST_MS = 60_000


class DailySnapshots(QObject):
    """Takes the daily snapshot.

    Args:
        see_today: Counts the day for everything in the trash.
        again_ms: Milliseconds between checks.

    Signals:
        created(path): A snapshot was written.
        failed(error): Taking it failed; reported once, not every hour.
    """

    created = Signal(Path)
    failed = Signal(Exception)

    def __init__(
        self,
        snapshots: Snapshots,
        settings: SettingsService,
        tasks: Tasks,
        see_today: Callable[[], object] = lambda: None,
        again_ms: int = 3_600_000,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._snapshots = snapshots
        self._settings = settings
        self._tasks = tasks
        self._see_today = see_today
        self._again_ms = again_ms
        self._running: Task | None = None
        self._clock = QTimer(self)
        self._clock.timeout.connect(self.check)
        self._clock.start(_FIRST_MS)
        tasks.closing.connect(self._clock.stop)

    def check(self) -> None:
        """Take today's snapshot, if there is none yet and the settings want one."""
        self._clock.start(self._again_ms)
        # If this fails, the day does not count, and deleted chats stay a little longer.
        self._tasks.run(self._see_today, lambda _: None, _log_uncounted, on=STORE)
        most = self._settings.current.snapshots
        if most == 0 or self._running is not None:
            return

        def work(cancel: CancelToken) -> Iterator[Path]:
            now = datetime.now().astimezone()
            if self._snapshots.is_due(now):
                path = self._snapshots.take(now, most, cancel)
                if path is not None:
                    yield path

        def over() -> None:
            self._running = None

        def failed(error: Exception) -> None:
            over()
            self._clock.stop()
            self.failed.emit(error)

        self._running = self._tasks.stream(
            work, lambda paths: self.created.emit(paths[-1]), over, failed, on=SNAPSHOTS
        )


def _log_uncounted(error: Exception) -> None:
    logging.getLogger(__name__).warning("The day was not counted: %s", error)
