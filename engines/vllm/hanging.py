"""Watches whether a worker that is starting or answering still computes.

A process that hangs never ends by itself, and the user would wait for a quarter of an hour.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import Final

from engines.vllm.processes import computed_s

SILENT_S: Final = 60.0
"""Seconds without output or computation after which an answer hangs; a model's step takes few."""

_CHECKS: Final = 12
"""Number of checks in that time."""

_IDLE_SHARE: Final = 1 / 300
"""Share of that time that counts as no computation, because a waiting process polls a little."""


_BUSY_SHARE: Final = 1 / 100
"""Share of the allowed silence that a start has to spend computing to count as alive."""

_LONGEST: Final = 12
"""Multiple of that silence that a start can compute without output, as some wait in a loop."""


@dataclass(frozen=True)
class Silence:
    """The silence of a start.

    Attributes:
        seconds: How long it has lasted.
        computes: The worker has computed during it.
    """

    seconds: float
    computes: bool


class StartWatch:
    """Detects a start that hangs: it logs nothing and computes nothing.

    Silence alone proves nothing: compiling kernels logs nothing for a quarter of an hour on two
    cores.
    """

    def __init__(self, silent_s: float, clock: Callable[[], float] = monotonic) -> None:
        self._silent_s = silent_s
        self._clock = clock
        self._last_line_at = self._sign_at = clock()
        self._computed_then = 0.0

    def check(self, last_line_at: float, computed: float) -> Silence | None:
        """Return the silence if it has lasted too long, else None.

        Args:
            last_line_at: Time of the last log line.
            computed: Processor time so far, in seconds. It can fall, because a process that ends
                takes its share with it.
        """
        now = self._clock()
        if last_line_at > self._last_line_at:
            self._last_line_at = self._sign_at = last_line_at
            self._computed_then = computed
        elif computed - self._computed_then >= self._silent_s * _BUSY_SHARE:
            self._sign_at, self._computed_then = now, computed
        self._computed_then = min(self._computed_then, computed)
        if now - self._sign_at > self._silent_s:
            return Silence(now - self._sign_at, computes=False)
        if now - self._last_line_at > self._silent_s * _LONGEST:
            return Silence(now - self._last_line_at, computes=True)
        return None


class HangWatch:
    """Watches one answer on its own thread.

    Args:
        session: Session id of the worker.
        give_up: Called once, on that thread, if the answer hangs; `hangs` is True by then.
        silent_s: Seconds without output or computation that count as hanging.
    """

    def __init__(
        self, session: int, give_up: Callable[[], None], silent_s: float = SILENT_S
    ) -> None:
        self._session = session
        self._give_up = give_up
        self._silent_s = silent_s
        self._stopped = threading.Event()
        self._last_output = monotonic()
        self._thread = threading.Thread(target=self._run, name="worker watch", daemon=True)
        self.hangs = False

    def note_output(self) -> None:
        """Note that a part of the answer has arrived."""
        self._last_output = monotonic()

    def __enter__(self) -> HangWatch:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        idle_s = self._silent_s * _IDLE_SHARE
        since, computed_before = monotonic(), computed_s(self._session)
        while not self._stopped.wait(self._silent_s / _CHECKS):
            computed_now = computed_s(self._session)
            if (
                computed_now is None
                or computed_before is None
                or computed_now - computed_before > idle_s
                or self._last_output > since
            ):
                since, computed_before = monotonic(), computed_now
            elif monotonic() - since >= self._silent_s:
                self.hangs = True
                self._give_up()
                return
