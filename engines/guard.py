"""Guards of an engine: one turns its wrong use into an error, one keeps what is looked at."""

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


class LookGuard:
    """Lets any number look at what is loaded, side by side; what takes it away waits for them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._looking = 0
        self._taking = False

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look: until the end nothing is taken away."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taking)
            self._looking += 1
        try:
            yield
        finally:
            with self._changed:
                self._looking -= 1
                self._changed.notify_all()

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Take away what is loaded: nobody looks at it, and who comes meanwhile finds it gone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taking)
            self._taking = True
            self._changed.wait_for(lambda: not self._looking)
        try:
            yield
        finally:
            with self._changed:
                self._taking = False
                self._changed.notify_all()


def _busy() -> RuntimeError:
    return RuntimeError("the engine is busy: finish or close the present answer first")
