"""Ends the vLLM worker when nobody has asked it anything for a while."""

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
    """Stops the worker after some minutes without a question; 0 is never.

    stopped(): the worker has given its memory back. minutes: as the settings say.

    The worker is ended in its turn, so that nothing is at work on it: what is asked in the meantime
    is answered before, and has started the clock again. What a command leaves is ended by its
    guardian.
    """

    stopped = Signal()

    def __init__(
        self,
        runtime: Runtime,
        minutes: Callable[[], int],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runtime = runtime
        self._minutes = minutes
        self._tasks = tasks
        self._looking = False
        self._timer = QTimer(self)
        self._timer.setInterval(LOOKS_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        tasks.closing.connect(self._timer.stop)

    @property
    def is_looking(self) -> bool:
        return self._looking

    def look(self) -> None:
        """Stop it, if it is time. One look at a time waits for its turn."""
        after_s = self._minutes() * 60.0
        if not after_s or self._looking or self._runtime.held("vllm") is None:
            return
        self._looking = True
        self._tasks.run(
            lambda: self._runtime.stop_idle("vllm", after_s), self._looked, self._failed, on=ENGINE
        )

    def _looked(self, ended: bool) -> None:
        self._looking = False
        if ended:
            self.stopped.emit()

    def _failed(self, error: Exception) -> None:
        self._looking = False
        _log.warning("the worker could not be ended: %s", error)
