"""Who may use an engine at the same time: several answers, or one thing alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Turns:
    """Used from any thread. What finds no room raises RuntimeError at once, and never waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers = 0
        self._begun = 0
        self._exclusive = False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """For what must not happen beside an answer."""
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
        """One of at most so many answers; what it gives tells whether none was beside it so far."""
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
