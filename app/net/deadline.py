"""The end of a request that has to be whole in time; loaded with the client."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from app.net.open_lines import OPENED, Trace, shut


class Deadline:
    """Shuts the connection of a request that takes longer in all, whatever it waits for.

    A limit on each read does not end a server that sends a byte now and then.
    within_s: seconds from now; None for a request that takes what it takes.
    """

    def __init__(self, within_s: float | None) -> None:
        self.passed = False
        self._lock = threading.Lock()
        self._opened: Any = None
        self._leave: Callable[[], None] = _nobody
        self._timer = threading.Timer(within_s or 0.0, self._pass)
        self._timer.daemon = True
        if within_s is not None:
            self._timer.start()

    def cancel(self) -> None:
        """The request is over."""
        self._timer.cancel()

    def watching(self, also: Trace | None) -> Trace:
        """What the request is watched by, for the connection that it opens. also: who else is."""

        def watch(event: str, told: dict[str, Any]) -> None:
            if event.endswith(OPENED):
                self.hold(told["return_value"])
            if also is not None:
                also(event, told)

        return watch

    def hold(self, stream: Any) -> None:
        """The network stream that the request uses; a kept connection is opened by no step."""
        if stream is None:
            return
        with self._lock:
            self._opened = stream.get_extra_info("socket")
            if self.passed:
                shut(self._opened)

    @contextmanager
    def leaving(self, leave: Callable[[], None]) -> Iterator[None]:
        """Who waits within for the answer to begin leaves at the deadline."""
        self._leave = leave
        if self.passed:
            leave()
        try:
            yield
        finally:
            self._leave = _nobody

    def require(self, error: Exception | None = None) -> None:
        """Raises ReadTimeout if it has passed. error: what came of that."""
        if self.passed:
            raise httpx2.ReadTimeout("not whole in time") from error

    def _pass(self) -> None:
        with self._lock:
            self.passed = True
            if self._opened is not None:
                shut(self._opened)
        self._leave()


def _nobody() -> None:
    """Nobody waits."""
