"""A token with which one thread stops the work of another."""

from __future__ import annotations

import threading
from collections.abc import Callable


class CancelToken:
    """A request to stop, which any thread can set once.

    It is never reset: make a new token for each piece of work.

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
        """True if a stop was requested; any thread may ask."""
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for a cancel, at most this many seconds; return whether it has come."""
        return self._event.wait(max(0.0, seconds))

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` in the cancelling thread; at once if the token is cancelled already.

        Returns:
            A function that unregisters the callback, for work that ends before a cancel.
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
