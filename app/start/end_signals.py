"""Ends the window in the usual way when the system or a terminal asks the process to end.

Python runs a signal handler only between two bytecode instructions, and an idle window executes
none. So each signal also writes a byte into a pipe, which wakes Qt. Windows has no pipes that Qt
can watch; there a timer runs Python twice a second. The end of a desktop session is reported to Qt
by messages on every system.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSocketNotifier, QTimer

_WAKES = sys.platform != "win32"
_STEP_MS = 500
_SIGNALS = [
    # On Windows, closing the console and Ctrl+Break both arrive as SIGBREAK.
    getattr(signal, name)
    for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")
    if hasattr(signal, name)
]


class EndSignals:
    """Signal handlers that are installed until `close`; used on the main thread.

    A signal that was ignored at the start stays ignored: `nohup` and a shell's background jobs rely
    on it.

    Args:
        end: Called one or more times after a signal.
        wakes: Whether a signal can wake Qt on this system.
    """

    def __init__(self, end: Callable[[], object], *, wakes: bool = _WAKES) -> None:
        self._end = end
        self._wakes = wakes
        self._asked = False  # whether a signal came that could not wake Qt
        self._before: dict[int, Any] = {}
        if not wakes:
            self._steps = QTimer()
            self._steps.timeout.connect(self._step)
            self._steps.start(_STEP_MS)
            self._handle(self._note)
            return
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._notifier = QSocketNotifier(self._read, QSocketNotifier.Type.Read)
        self._notifier.activated.connect(self._heard)
        self._woken = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._handle(lambda *_: None)

    def _handle(self, handler: Callable[[int, Any], object]) -> None:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, handler)

    def _note(self, *_: object) -> None:
        self._asked = True

    def _step(self) -> None:
        if self._asked:
            self._end()

    def _heard(self) -> None:
        os.read(self._read, 64)
        self._end()

    def close(self) -> None:
        """Restore the previous signal handlers."""
        for number, before in self._before.items():
            signal.signal(number, before)
        if not self._wakes:
            self._steps.stop()
            return
        signal.set_wakeup_fd(self._woken)
        self._notifier.setEnabled(False)
        os.close(self._read)
        os.close(self._write)
