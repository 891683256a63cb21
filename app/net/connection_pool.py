"""The open connections, all of which can be hung up at once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from engines.connection import Trace, shut

_OPENED = ("connect_tcp.complete", "start_tls.complete")


class ConnectionPool:
    """A register of open connections.

    It closes none: the reader of a connection that was hung up closes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._waiting: set[Callable[[], None]] = set()
        self._hang_ups = 0

    def watching(self) -> Trace:
        """Return the trace function, to be made before sending, that registers connections."""
        hang_ups = self._hang_ups

        def watch(event: str, info: dict[str, Any]) -> None:
            if event.endswith(_OPENED):
                opened = info["return_value"].get_extra_info("socket")
                with self._lock:
                    self._sockets.add(opened)
                    if self._hang_ups != hang_ups:
                        shut(opened)

        return watch

    @contextmanager
    def on_hang_up(self, leave: Callable[[], None]) -> Iterator[None]:
        """Call `leave` if all connections are hung up within the block."""
        with self._lock:
            self._waiting.add(leave)
        try:
            yield
        finally:
            with self._lock:
                self._waiting.discard(leave)

    def hang_up(self) -> None:
        """End every wait for a connection, a response or its bytes, with an error."""
        with self._lock:
            self._hang_ups += 1
            for opened in list(self._sockets):
                shut(opened)
            waiting = list(self._waiting)
        for leave in waiting:
            leave()
