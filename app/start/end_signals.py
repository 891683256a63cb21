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

_CAN_WAKE = sys.platform != "win32"
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
        can_wake: Whether a signal can wake Qt on this system.
    """

    def __init__(self, end: Callable[[], object], *, can_wake: bool = _CAN_WAKE) -> None:
        self._end = end
        self._can_wake = can_wake
        self._end_requested = False  # whether a signal came that could not wake Qt
        self._previous_handlers: dict[int, Any] = {}
        if not can_wake:
            self._steps = QTimer()
            self._steps.timeout.connect(self._check)
            self._steps.start(_STEP_MS)
            self._handle(self._note_signal)
            return
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._notifier = QSocketNotifier(self._read, QSocketNotifier.Type.Read)
        self._notifier.activated.connect(self._end_after_signal)
        self._previous_wakeup_fd = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._handle(lambda *_: None)

    def _handle(self, handler: Callable[[int, Any], object]) -> None:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous_handlers[number] = signal.signal(number, handler)

    def _note_signal(self, *_: object) -> None:
        self._end_requested = True

    def _check(self) -> None:
        if self._end_requested:
            self._end()

    def _end_after_signal(self) -> None:
        os.read(self._read, 64)
        self._end()

    def close(self) -> None:
        """Restore the previous signal handlers."""
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)
        if not self._can_wake:
            self._steps.stop()
            return
        signal.set_wakeup_fd(self._previous_wakeup_fd)
        self._notifier.setEnabled(False)
        os.close(self._read)
        os.close(self._write)
