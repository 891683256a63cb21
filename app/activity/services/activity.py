"""Reads the activity of the engines, for who looks at it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from app.activity.values.activity import ActivityReport, curves
from app.runtime.services.memory import memory_held, own_memory
from app.runtime.values.request_records import SPAN_S, TokenCounts

if TYPE_CHECKING:
    from app.runtime.services.runtime import Runtime

_STEP_S: Final = 2.0
_MINUTE_S: Final = 60.0


class ActivityReader:
    """Reads reports; by one thread at a time. The memory is looked at with each of them."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._memory: deque[tuple[float, float]] = deque()

    def read(self) -> ActivityReport:
        """Report the last minutes."""
        log = self._runtime.requests
        now = log.now()
        # Whole stretches that stand still, so that curves move and do not tremble. What is held now
        # stands for the last of them.
        until = now // _STEP_S * _STEP_S
        self._memory.append((until - _STEP_S / 2, float(self._held())))
        while self._memory[0][0] < now - SPAN_S:
            self._memory.popleft()
        requests, waiting, totals = log.requests(), log.waiting(), log.totals().values()
        return ActivityReport(
            curves(requests, waiting, self._memory, now, until, _STEP_S),
            curves(requests, waiting, self._memory, now, now, _MINUTE_S),
            len(requests) + len(waiting),
            sum(sum(it.ends.values()) for it in totals),
            sum((it.tokens for it in totals), TokenCounts()),
        )

    def _held(self) -> int:
        """Return the bytes of this computer's memory that Hearth and its workers hold."""
        models = self._runtime.models()
        workers = {self._runtime.status(it.entry.engine).process for it in models} - {0}
        return own_memory() + sum(memory_held(it)[0] for it in workers)
