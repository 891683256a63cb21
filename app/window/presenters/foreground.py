"""Lets the window of another process come to the front, on systems that restrict this."""

from __future__ import annotations

import sys


def give_way(process: int) -> None:
    """Let a process bring its window to the front.

    The caller must be the process that the user has just started. Without this call, Windows only
    makes the taskbar button of the other process blink. Other systems have no such restriction.

    Source: Microsoft's documentation of AllowSetForegroundWindow.
    """
    if sys.platform == "win32":
        import ctypes

        ctypes.WinDLL("user32").AllowSetForegroundWindow(ctypes.c_uint32(process))
