"""Ctrl-C handling that ends an answer cleanly, even while the engine is in a native call."""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar

from engines.cancel import CancelToken
from engines.errors import Cancelled

T = TypeVar("T")

_POLL_S = 0.1


class _End:
    """A marker for the end of the work, with the error that the work raised."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def interruptible(work: Callable[[CancelToken], Iterator[T]]) -> Generator[T, None, None]:
    """Iterate over `work` on another thread; Ctrl-C cancels it instead of raising at once.

    Call this on the main thread.

    Args:
        work: Yields the items; it is given the token that Ctrl-C cancels.

    Yields:
        The items, including those that the work yields after it was cancelled.

    Raises:
        KeyboardInterrupt: The user pressed Ctrl-C. It is raised after the last item.
    """
    cancel = CancelToken()
    items: queue.SimpleQueue[T | _End] = queue.SimpleQueue()

    def carry_out() -> None:
        error: BaseException | None = None
        try:
            for item in work(cancel):
                items.put(item)
        except BaseException as raised:  # noqa: BLE001 - raised again on the waiting thread
            error = raised
        items.put(_End(error))

    thread = threading.Thread(target=carry_out, name="hearth-answer")
    old_handler = signal.signal(signal.SIGINT, lambda *_: cancel.cancel())
    interrupted = False
    thread.start()
    try:
        while not isinstance(item := _wait(items), _End):
            yield item
        interrupted = cancel.cancelled
    finally:
        cancel.cancel()
        thread.join()
        signal.signal(signal.SIGINT, old_handler)
    if isinstance(item.error, Cancelled):
        raise KeyboardInterrupt from item.error
    if item.error is not None:
        raise item.error
    if interrupted:
        raise KeyboardInterrupt


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process at once while modules are loaded.

    A KeyboardInterrupt inside an import can surface as any error of the module. Call this on the
    main thread.
    """
    old_handler = signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old_handler)


def _wait(items: queue.SimpleQueue[T]) -> T:
    """Wait for the next item in short steps: on Windows a long wait cannot be interrupted."""
    while True:
        try:
            return items.get(timeout=_POLL_S)
        except queue.Empty:
            continue
