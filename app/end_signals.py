"""Ends the window as its own close does when the system or a terminal asks the process to end.

Python runs a handler only between two steps of its own, and an idle window takes none. So each
signal also writes a byte into a pipe, which wakes Qt. Windows sends a window messages instead.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSocketNotifier


class EndSignals:
    """Handles signals from its making to `close`, on the main thread.

    end: called once or more after a signal. What was ignored at the start stays so: that is how
    `nohup` and a shell's background ask for it.
    """

    def __init__(self, end: Callable[[], object]) -> None:
        self._end = end
        self._before: dict[int, Any] = {}
        if sys.platform == "win32":
            return
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)
        self._notifier = QSocketNotifier(self._read, QSocketNotifier.Type.Read)
        self._notifier.activated.connect(self._heard)
        self._woken = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, lambda *_: None)

    def _heard(self) -> None:
        os.read(self._read, 64)
        self._end()

    def close(self) -> None:
        """Restore what a signal did before."""
        if sys.platform == "win32":
            return
        for number, before in self._before.items():
            signal.signal(number, before)
        signal.set_wakeup_fd(self._woken)
        self._notifier.setEnabled(False)
        os.close(self._read)
        os.close(self._write)
