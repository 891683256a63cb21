"""Stops the vLLM worker after it has been idle for a while."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from app.kit.tasks.tasks import ENGINE, Tasks
from app.runtime.services.runtime import Runtime

LOOKS_MS: Final = 20_000

_log = logging.getLogger(__name__)


class IdleStop(QObject):
    """Stops the worker after some minutes without a request.

    The worker is stopped in its turn in the queue, so nothing is running on it. Requests made in
    the meantime are answered first and reset the idle time. A worker left by a command is ended by
    its guardian.

    Signals:
        stopped(): The worker has ended and its memory is free.
    """

    stopped = Signal()

    def __init__(
        self,
        runtime: Runtime,
        minutes: Callable[[], int],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        """Start checking regularly.

        Args:
            minutes: Returns the idle minutes from the settings; 0 for never.
        """
        super().__init__(parent)
        self._runtime = runtime
        self._minutes = minutes
        self._tasks = tasks
        self._looking = False
        self._timer = QTimer(self)
        self._timer.setInterval(LOOKS_MS)
        self._timer.timeout.connect(self.check)
        self._timer.start()
        tasks.closing.connect(self._timer.stop)

    @property
    def is_checking(self) -> bool:
        """True if a check is running."""
        return self._looking

    def check(self) -> None:
        """Stop the worker if it is time. Only one check at a time waits for its turn."""
        after_s = self._minutes() * 60.0
        if not after_s or self._looking or self._runtime.loaded_model("vllm") is None:
            return
        self._looking = True
        self._tasks.run(
            lambda: self._runtime.stop_idle("vllm", after_s), self._checked, self._failed, on=ENGINE
        )

    def _checked(self, ended: bool) -> None:
        self._looking = False
        if ended:
            self.stopped.emit()

    def _failed(self, error: Exception) -> None:
        self._looking = False
        _log.warning("the worker could not be ended: %s", error)
