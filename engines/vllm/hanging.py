"""Watches whether a worker that starts, or that owes an answer, still computes.

A process that hangs never ends by itself, and whoever asked would wait for a quarter of an hour.
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
"""So long nothing was computed and nothing said. A step of a model takes a few seconds."""

_LOOKS: Final = 12
"""The number of looks in that time."""

_NOTHING: Final = 1 / 300
"""The share of that time whose computing counts as none: what waits looks around now and then."""


_STARTS: Final = 1 / 100
"""The share of the silence allowed at a start that has to be computed in it."""

_LONGEST: Final = 12
"""How many times that silence a start may compute without a word: some wait in a loop."""


@dataclass(frozen=True)
class Silence:
    """The silence of a start. computes: it computed meanwhile."""

    seconds: float
    computes: bool


class StartWatch:
    """Tells whether a start has gone silent: it says nothing, and computes nothing either.

    Kernels are compiled without a word, for a quarter of an hour on two cores.
    """

    def __init__(self, silent_s: float, clock: Callable[[], float] = monotonic) -> None:
        self._silent_s = silent_s
        self._clock = clock
        self._heard = self._sign = clock()
        self._before = 0.0

    def look(self, heard: float, computed: float) -> Silence | None:
        """Return the silence once it lasts too long, else None.

        heard: when it last said something. computed: the seconds for which it has computed so far;
        a process that ends may take its own along.
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
    """Watches one answer on a thread of its own. session: the worker's.

    give_up: called once, from that thread, where it hangs; then `hangs` is set.
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
        """Note that something of the answer came."""
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
