"""A token that one thread sets to stop the work of another."""

from __future__ import annotations

import threading
from collections.abc import Callable


class CancelToken:
    """A request to stop, set once, by any thread; never reset: make a new one for each work.

    Example::

        cancel = CancelToken()
        for event in engine.chat(request, cancel):   # another thread calls cancel.cancel()
            ...
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    def cancel(self) -> None:
        """Ask for a stop. Calling it again does nothing."""
        with self._lock:
            if self._event.is_set():
                return
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for a cancel, but no longer than so many seconds; whether it has come."""
        return self._event.wait(max(0.0, seconds))

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` from the cancelling thread; at once if that has already happened.

        Returns a function that takes the callback back, for work that ends before a cancel.
        """
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)
