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

_LOOKS: Final = 12
"""Number of checks in that time."""

_NOTHING: Final = 1 / 300
"""Share of that time that counts as no computation, because a waiting process polls a little."""


_STARTS: Final = 1 / 100
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
        self._heard = self._sign = clock()
        self._before = 0.0

    def look(self, heard: float, computed: float) -> Silence | None:
        """Return the silence if it has lasted too long, else None.

        Args:
            heard: Time of the last log line.
            computed: Processor time so far, in seconds. It can fall, because a process that ends
                takes its share with it.
        """
        now = self._clock()
        if heard > self._heard:
            self._heard = self._sign = heard
            self._before = computed
        elif computed - self._before >= self._silent_s * _STARTS:
            self._sign, self._before = now, computed
        self._before = min(self._before, computed)
        if now - self._sign > self._silent_s:
            return Silence(now - self._sign, computes=False)
        if now - self._heard > self._silent_s * _LONGEST:
            return Silence(now - self._heard, computes=True)
        return None


class Watch:
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
        self._over = threading.Event()
        self._heard = monotonic()
        self._thread = threading.Thread(target=self._look, name="worker watch", daemon=True)
        self.hangs = False

    def heard(self) -> None:
        """Note that a part of the answer has arrived."""
        self._heard = monotonic()

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        nothing_s = self._silent_s * _NOTHING
        since, before = monotonic(), computed_s(self._session)
        while not self._over.wait(self._silent_s / _LOOKS):
            now = computed_s(self._session)
            if now is None or before is None or now - before > nothing_s or self._heard > since:
                since, before = monotonic(), now
            elif monotonic() - since >= self._silent_s:
                self.hangs = True
                self._give_up()
                return
