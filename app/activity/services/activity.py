"""The reports on the engines' activity."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from app.activity.values.activity import ActivityReport, curves
from app.runtime.services.memory import memory_used, own_memory
from app.runtime.values.request_records import SPAN_S, TokenCounts

if TYPE_CHECKING:
    from app.runtime.services.runtime import Runtime

_STEP_S: Final = 2.0
_MINUTE_S: Final = 60.0


class ActivityReader:
    """A reader of reports, for one thread at a time. Each report also samples the memory."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._memory: deque[tuple[float, float]] = deque()

    def read(self) -> ActivityReport:
        """Return a report on the last minutes."""
        log = self._runtime.requests
        now = log.now()
        # The stretches begin at fixed times, so that the curves move without flickering. The memory
        # held now counts for the last stretch.
        end = now // _STEP_S * _STEP_S
        self._memory.append((end - _STEP_S / 2, float(self._memory_bytes())))
        while self._memory[0][0] < now - SPAN_S:
            self._memory.popleft()
        requests, waiting, totals = log.requests(), log.waiting(), log.totals().values()
        return ActivityReport(
            curves(requests, waiting, self._memory, now, end, _STEP_S),
            curves(requests, waiting, self._memory, now, now, _MINUTE_S),
            len(requests) + len(waiting),
            sum(sum(total.ends.values()) for total in totals),
            sum((total.tokens for total in totals), TokenCounts()),
        )

    def _memory_bytes(self) -> int:
        """Return the memory that Hearth and its workers hold on this computer, in bytes."""
        models = self._runtime.models()
        workers = {self._runtime.status(model.entry.engine).process for model in models} - {0}
        return own_memory() + sum(memory_used(pid)[0] for pid in workers)
