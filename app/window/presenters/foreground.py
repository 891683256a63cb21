"""Lets the window of another process come to the front, where the system asks who may do that."""

from __future__ import annotations

import sys


def give_way(process: int) -> None:
    """Let a process bring its window to the front; to be called by whom the user has just started.

    Else Windows only has the other one's button blink in the task bar. Source: Microsoft's
    documentation of AllowSetForegroundWindow. Other systems do not ask.
    """
    if sys.platform == "win32":
        import ctypes

        ctypes.WinDLL("user32").AllowSetForegroundWindow(ctypes.c_uint32(process))
