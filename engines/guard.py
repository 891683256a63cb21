"""Two guards of an engine: one against wrong use, one against unloading a model in use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class UseGuard:
    """A guard that raises RuntimeError if more callers use an engine than it supports.

    The callers decide who may use an engine and who waits. A mistake of theirs would crash a
    library or mix up two answers; here it becomes an error instead. The guard never waits, and any
    thread may use it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers = 0
        self._started = 0
        self._is_exclusive = False

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Enter work that must run alone, such as a load."""
        with self._lock:
            if self._answers or self._is_exclusive:
                raise _busy()
            self._is_exclusive = True
        try:
            yield
        finally:
            with self._lock:
                self._is_exclusive = False

    @contextmanager
    def answering(self, most: int) -> Iterator[Callable[[], bool]]:
        """Enter one of at most `most` concurrent answers.

        Yields:
            A function that returns whether this has been the only answer so far.
        """
        with self._lock:
            if self._is_exclusive or self._answers >= max(1, most):
                raise _busy()
            self._answers += 1
            self._started += 1
            number, was_first = self._started, self._answers == 1
        try:
            yield lambda: was_first and self._started == number
        finally:
            with self._lock:
                self._answers -= 1


class ModelInUseGuard:
    """A guard that lets any number of readers look at the loaded model; unloading waits for all."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._users = 0
        self._is_unloading = False

    @contextmanager
    def using(self) -> Iterator[None]:
        """Look at the loaded model; nothing is unloaded until the end of the block."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_unloading)
            self._users += 1
        try:
            yield
        finally:
            with self._changed:
                self._users -= 1
                self._changed.notify_all()

    @contextmanager
    def unloading(self) -> Iterator[None]:
        """Unload the model within the block, once no reader is left.

        Readers that arrive meanwhile wait for the end of the block, and then find the model gone.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._is_unloading)
            self._is_unloading = True
            self._changed.wait_for(lambda: not self._users)
        try:
            yield
        finally:
            with self._changed:
                self._is_unloading = False
                self._changed.notify_all()


def _busy() -> RuntimeError:
    return RuntimeError("the engine is busy: finish or close the present answer first")
