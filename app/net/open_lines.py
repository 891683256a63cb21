"""The connections that are open, so that all of them can be hung up at once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

Trace = Callable[[str, dict[str, Any]], None]
"""Told of the steps of a request: httpcore2's “trace” extension."""

_OPENED = ("connect_tcp.complete", "start_tls.complete")


class OpenLines:
    """Holds no connection open, and closes none: who reads from one that is hung up does that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: WeakSet[socket.socket] = WeakSet()

    def watching(self, also: Trace | None) -> Trace:
        """What a request is watched by. also: who else watches it."""

        def watch(event: str, told: dict[str, Any]) -> None:
            if event.endswith(_OPENED):
                with self._lock:
                    self._sockets.add(told["return_value"].get_extra_info("socket"))
            if also is not None:
                also(event, told)

        return watch

    def hang_up(self) -> None:
        """Whoever waits for an answer or for its bytes wakes, with an error."""
        with self._lock:
            for line in list(self._sockets):
                with suppress(OSError):  # the other side was faster
                    # A socket with TLS would first forget its cipher, and write on as it is.
                    socket.socket.shutdown(line, socket.SHUT_RDWR)
