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

from engines.errors import EngineError
from engines.helper.result import RESULT, error_line, line_of

NO_MEMORY_CODE: Final = 77
"""The exit code of a helper that has no memory left even to read an order or to answer it."""

END_OF_ANSWER: Final = b"\n"
"""An empty line, which follows the answer to an order."""

WriteLine = Callable[[Any], None]
"""Writes a value to the parent as a line of JSON."""


def begin() -> WriteLine:
    """Set up the process before anything else, and return the function that writes its output."""
    lower_priority()
    threading.Thread(target=_end_with_app, daemon=True).start()
    return _writer(_out())


def report(work: Callable[[WriteLine], object]) -> None:
    """Set up the process, do its work, and write the result or the error that ended it.

    Args:
        work: Returns the result, a JSON value. It can write lines of its own before.
    """
    write = begin()
    write(outcome(lambda: work(write)))


def outcome(work: Callable[[], object]) -> dict[str, Any]:
    """Do some work; return the line with its result or its error, as `result_of` reads it."""
    try:
        return {RESULT: work()}
    except EngineError as error:
        return error_line(error)


def begin_serving(*, modest: bool = True) -> tuple[WriteLine, Iterator[Any]]:
    """Set up a process that carries out orders one after the other; see `ServingHelper`.

    Call this before anything else.

    Args:
        modest: Lower the priority of the process.

    Returns:
        The function that writes output, and an iterator of the orders. Output between two orders
        answers the first of them.
    """
    if modest:
        lower_priority()
    else:
        end_quietly()
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        code = 1
        try:
            with open(0, "rb", closefd=False) as lines:
                for line in lines:
                    orders.put(line)
        except MemoryError:
            code = NO_MEMORY_CODE
        finally:
            os._exit(code)

    # On another thread, so that the end of the app is noticed even during an order.
    threading.Thread(target=listen, daemon=True).start()
    out = _out()

    def read_orders() -> Iterator[Any]:
        while True:
            yield json.loads(orders.get())
            os.write(out, END_OF_ANSWER)

    return _writer(out), read_orders()


def _out() -> int:
    # Only JSON lines go to the real standard output; the libraries' output goes to standard error.
    out = os.dup(1)
    os.dup2(2, 1)
    return out


def _writer(out: int) -> WriteLine:
    def write(value: Any) -> None:
        os.write(out, line_of(value))

    return write


def lower_priority() -> None:
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


def _end_with_app() -> None:
    """End this process when the app ends, which closes the other end of standard input."""
    os.read(0, 1)
    os._exit(1)
