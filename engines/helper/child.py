"""The behaviour of a helping process: it yields to others, and ends with the app."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Say = Callable[[Any], None]
"""Write a value to whoever waits, as a line of JSON."""


def begin() -> Say:
    """Set the process up, first of all; returns the function that writes its output."""
    be_modest()
    _end_with_the_app()
    # Nothing else may write between the lines: the libraries get standard error for theirs.
    out = os.dup(1)
    os.dup2(2, 1)

    def say(value: Any) -> None:
        os.write(out, json.dumps(value).encode() + b"\n")

    return say


def be_modest() -> None:
    """Lower the process's priority, and let it die without a core file or a message."""
    end_quietly()
    if sys.platform != "win32":
        os.nice(5)


def end_quietly() -> None:
    """Let the process die without a core file or a message of the system's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the app to answer
    if sys.platform == "win32":
        import msvcrt

        msvcrt.SetErrorMode(msvcrt.SEM_FAILCRITICALERRORS | msvcrt.SEM_NOGPFAULTERRORBOX)
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        # Where memory runs out, the system ends this process rather than the app.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _end_with_the_app() -> None:
    """End this process when the app does: then the other end of standard input closes."""

    def wait() -> None:
        os.read(0, 1)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
