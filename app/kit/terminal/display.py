"""The check whether a window can be shown: Qt tries it in a child process, which it can end."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from typing import Final

from engines.sentences import N_
from engines.text import on_one_line

PATIENCE_S: Final = 15.0
"""How long to wait for the display, in seconds. A remote display can take a while to answer."""


def has_display(platform: str = sys.platform) -> bool:
    """Return whether this session names a display, even if that display no longer exists.

    Windows and macOS always have a display, but a user connected over SSH cannot see it.

    Args:
        platform: The system, as in `sys.platform`.
    """
    if platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class DisplayTrial:
    """A trial that opens the display in a fork of this process, while this process goes on.

    Qt ends the process if the display is gone or refuses the connection, or if a system library
    is missing. Create the trial while the process has one thread and has done nothing with Qt but
    import it. Windows and macOS always have a display, so nothing is tried there. The owner must
    call `problem`.

    Args:
        patience_s: How long to wait for the display, in seconds.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        # A fork has Qt loaded already; a new process would make each start half as long again.
        self._child = 0
        if sys.platform in ("win32", "darwin"):
            return
        from PySide6.QtGui import QGuiApplication

        if QGuiApplication.instance() is not None:
            return  # the display is open already
        self._reader, writer = os.pipe()
        self._child = os.fork()
        if self._child:
            os.close(writer)
            return
        try:
            _redirect_stderr(writer, patience_s)
            QGuiApplication(["hearth"])
            os._exit(0)
        finally:
            os._exit(1)

    def problem(self) -> str:
        """Wait for the trial, and return briefly why no window can be shown; "" if one can."""
        if not self._child:
            return ""
        output, until = b"", time.monotonic() + self._patience_s
        while select.select([self._reader], [], [], max(0.0, until - time.monotonic()))[0]:
            if not (chunk := os.read(self._reader, 4096)):
                break
            output += chunk
        else:
            os.kill(self._child, signal.SIGKILL)
            output = N_("the display does not answer").encode()
        os.close(self._reader)
        if os.waitpid(self._child, 0)[1] == 0:
            return ""
        # Qt's first line names the problem; a long explanation follows.
        lines = output.decode(errors="replace").split("\n")
        return next(
            (on_one_line(line).rstrip(". ") for line in lines if line.strip()), N_("Qt ended")
        )


def _redirect_stderr(writer: int, patience_s: float) -> None:
    """Send Qt's messages to the parent, and leave no core dump when Qt ends this process."""
    import resource

    os.dup2(writer, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.alarm(round(patience_s) + 5)  # even if the parent is gone by then
    os.environ.pop("SESSION_MANAGER", None)


if __name__ == "__main__":
    print(DisplayTrial().problem())
