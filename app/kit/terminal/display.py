"""Tells whether a window can be shown, by asking Qt in a process that it may end."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from typing import Final

from engines.text import on_one_line

PATIENCE_S: Final = 15.0
"""A display far away may take a while; one that does not answer at all is given up then."""


def has_display(platform: str = sys.platform) -> bool:
    """Whether this session names a display; it may be one that is gone. platform: the system.

    Windows and macOS have one, which nobody sees who is here from afar.
    """
    if platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class DisplayTrial:
    """Opens the display as the window will, in a fork of this process, while this one goes on.

    Qt ends the process where the display is gone, refuses us, or lacks a library of the system.
    To be made while the process has one thread, and nothing but the import of Qt. On Windows and
    macOS there is always a display, and nothing is tried. The owner calls `hindrance`.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        # A fork has Qt loaded: a process of its own would make each start half as long again.
        self._child = 0
        if sys.platform in ("win32", "darwin"):
            return
        from PySide6.QtGui import QGuiApplication

        if QGuiApplication.instance() is not None:
            return  # the display is open
        self._said, says = os.pipe()
        self._child = os.fork()
        if self._child:
            os.close(says)
            return
        try:
            _be_quiet(says, patience_s)
            QGuiApplication(["hearth"])
            os._exit(0)
        finally:
            os._exit(1)

    def hindrance(self) -> str:
        """Why no window can be shown, a few words; empty where one can. Waits for the trial."""
        if not self._child:
            return ""
        said, until = b"", time.monotonic() + self._patience_s
        while select.select([self._said], [], [], max(0.0, until - time.monotonic()))[0]:
            if not (piece := os.read(self._said, 4096)):
                break
            said += piece
        else:
            os.kill(self._child, signal.SIGKILL)
            said = b"the display does not answer"
        os.close(self._said)
        if os.waitpid(self._child, 0)[1] == 0:
            return ""
        # Qt says first what is wrong, and then at length what it means.
        lines = said.decode(errors="replace").split("\n")
        return next((on_one_line(line).rstrip(". ") for line in lines if line.strip()), "Qt ended")


def _be_quiet(says: int, patience_s: float) -> None:
    """Send what Qt says to the parent, and leave no core dump when Qt ends this process."""
    import resource

    os.dup2(says, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.alarm(round(patience_s) + 5)  # whatever has become of the parent by then
    os.environ.pop("SESSION_MANAGER", None)


if __name__ == "__main__":
    print(DisplayTrial().hindrance())
