"""A bot that waits longer for the window, and looks at it more often.

Five seconds are soon over on a loaded computer; and what a test waits for is mostly there after a
millisecond or two, where pytest-qt looks again after ten, thousands of times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from pytestqt.exceptions import TimeoutError as TooLate
from pytestqt.qtbot import QtBot

PATIENCE_MS = 30_000
LONGEST_PAUSE_MS = 10


class PatientBot(QtBot):
    """Only a test that fails takes longer by it."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:
        """Wait until `callback` returns True, or None as one does whose assertions hold."""
        until = time.monotonic() + timeout / 1000
        pause = 1
        while True:
            wrong = None
            try:
                if callback() in {None, True}:
                    return
            except AssertionError as error:
                wrong = error
            if time.monotonic() > until:
                raise TooLate(f"it was not so within {timeout} milliseconds") from wrong
            self.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE_MS)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_MS, **more: Any) -> Any:
        return super().waitSignal(signal, timeout=timeout, **more)

    def waitSignals(self, signals: Any, *, timeout: int = PATIENCE_MS, **more: Any) -> Any:
        return super().waitSignals(signals, timeout=timeout, **more)

    def waitExposed(self, widget: Any, *, timeout: int = PATIENCE_MS) -> Any:
        return super().waitExposed(widget, timeout=timeout)
