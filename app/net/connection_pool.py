"""The connections that are open, so that all of them can be hung up at once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

Trace = Callable[[str, dict[str, Any]], None]
"""Told of the steps of a request: httpcore2's “trace” extension."""

OPENED = ("connect_tcp.complete", "start_tls.complete")


class ConnectionPool:
    """Holds no connection open, and closes none: who reads from one that is hung up does that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._waiting: set[Callable[[], None]] = set()
        self._times = 0

    def watching(self, also: Trace | None) -> Trace:
        """What a request is watched by, from before it is sent. also: who else watches it."""
        times = self._times

        def watch(event: str, told: dict[str, Any]) -> None:
            if event.endswith(OPENED):
                opened = told["return_value"].get_extra_info("socket")
                with self._lock:
                    self._sockets.add(opened)
                    if self._times != times:
                        shut(opened)
            if also is not None:
                also(event, told)

        return watch

    @contextmanager
    def left_by(self, leave: Callable[[], None]) -> Iterator[None]:
        """Who waits within for a line to open leaves when all are hung up."""
        with self._lock:
            self._waiting.add(leave)
        try:
            yield
        finally:
            with self._lock:
                self._waiting.discard(leave)

    def hang_up(self) -> None:
        """Whoever waits for a connection, an answer or its bytes wakes, with an error."""
        with self._lock:
            self._times += 1
            for line in list(self._sockets):
                shut(line)
            waiting = list(self._waiting)
        for leave in waiting:
            leave()


def shut(line: socket.socket) -> None:
    """A socket with TLS would first forget its cipher, and write on as it is."""
    with suppress(OSError):  # the other side was faster
        socket.socket.shutdown(line, socket.SHUT_RDWR)
