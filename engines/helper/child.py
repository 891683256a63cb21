"""The helper's side: low priority, no traces of a crash, and an end together with the app."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from engines.sentences import packed

END_OF_ANSWER: Final = b"\n"
"""An empty line, which follows the answer to an order."""

Say = Callable[[Any], None]
"""Writes a value to the parent as a line of JSON."""


def begin() -> Say:
    """Set up the process before anything else, and return the function that writes its output."""
    be_modest()
    threading.Thread(target=_await_the_end, daemon=True).start()
    return _said(_out())


def begin_serving() -> tuple[Say, Iterator[Any]]:
    """Set up a process that carries out orders one after the other; see `ServingHelper`.

    Call this before anything else.

    Returns:
        The function that writes output, and an iterator of the orders. Output between two orders
        answers the first of them.
    """
    be_modest()
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        with open(0, "rb", closefd=False) as lines:
            for line in lines:
                orders.put(line)
        os._exit(1)

    # On another thread, so that the end of the app is noticed even during an order.
    threading.Thread(target=listen, daemon=True).start()
    out = _out()

    def taken() -> Iterator[Any]:
        while True:
            yield json.loads(orders.get())
            os.write(out, END_OF_ANSWER)

    return _said(out), taken()


def _out() -> int:
    # Only JSON lines go to the real standard output; the libraries' output goes to standard error.
    out = os.dup(1)
    os.dup2(2, 1)
    return out


def _said(out: int) -> Say:
    def say(value: Any) -> None:
        os.write(out, json.dumps(packed(value)).encode() + b"\n")

    return say


def be_modest() -> None:
    """Lower the process's priority, and let it die without a core file or a message."""
    end_quietly()
    if sys.platform != "win32":
        os.nice(5)


def end_quietly() -> None:
    """Let the process die without a core file or a message from the system."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the app
    if sys.platform == "win32":
        import msvcrt

        msvcrt.SetErrorMode(msvcrt.SEM_FAILCRITICALERRORS | msvcrt.SEM_NOGPFAULTERRORBOX)
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        # If memory runs out, the system then kills this process and not the app.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _await_the_end() -> None:
    """End this process when the app ends, which closes the other end of standard input."""
    os.read(0, 1)
    os._exit(1)
