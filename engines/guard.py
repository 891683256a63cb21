"""A guard that turns a wrong use of an engine into an error."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class UseGuard:
    """Guards an engine: raises RuntimeError where more callers use it than it can take.

    Who may use an engine, and who waits for whom, is decided by those who call it. A mistake of
    theirs would crash a library or mix two answers up; here it becomes an error. It never waits,
    and may be used from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers = 0
        self._begun = 0
        self._exclusive = False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Enter work that nothing else may happen beside, such as a load."""
        with self._lock:
            if self._answers or self._exclusive:
                raise _busy()
            self._exclusive = True
        try:
            yield
        finally:
            with self._lock:
                self._exclusive = False

    @contextmanager
    def answering(self, most: int) -> Iterator[Callable[[], bool]]:
        """Enter one of at most `most` answers; yields whether it has been the only one so far."""
        with self._lock:
            if self._exclusive or self._answers >= max(1, most):
                raise _busy()
            self._answers += 1
            self._begun += 1
            number, first = self._begun, self._answers == 1
        try:
            yield lambda: first and self._begun == number
        finally:
            with self._lock:
                self._answers -= 1


def _busy() -> RuntimeError:
    return RuntimeError("the engine is busy: finish or close the present answer first")
