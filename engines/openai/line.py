"""The connection of one request, which another thread may hang up."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any, Final

_BOTH_WAYS: Final = 2
"""`socket.SHUT_RDWR`, the same number on all systems."""


class Line:
    """Watches a request through httpcore2's “trace” extension, for its socket.

    A thread that waits in a read is not woken by closing the socket beneath it; a shutdown does
    that, and it ends the answer on the server. While a connection opens, the line has a second
    handle of its socket, since TLS takes the first one out of it for the handshake.

    whole: what was asked for has come, though the connection may still be open.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: Any = None
        self._second: Any = None
        self._hung_up = False
        self.whole = False

    def watch(self, event: str, told: dict[str, Any]) -> None:
        """Each step of the request."""
        if event.endswith(("connect_tcp.complete", "unix_socket.complete")):
            second = told["return_value"].get_extra_info("socket").dup()
            with self._lock:
                self._take(second)
                self._second = second

    def hold(self, stream: Any) -> None:
        """The network stream that the request uses; a kept connection is opened by no step."""
        with self._lock:
            self._take(stream.get_extra_info("socket"))

    def let_go(self) -> None:
        """The request is over: what becomes of its connection is no matter of the line's."""
        with self._lock:
            self._take(None)

    def hang_up(self) -> None:
        """From any thread, at any time; what reads fails soon."""
        with self._lock:
            self._hung_up = True
            _shut(self._socket)

    def _take(self, opened: Any) -> None:
        if self._second is not None:
            self._second.close()
            self._second = None
        self._socket = opened
        if self._hung_up:
            _shut(opened)

    @property
    def hung_up(self) -> bool:
        return self._hung_up


def _shut(opened: Any) -> None:
    """By the method of the plain socket: that of one with TLS first forgets its cipher, and what is
    being written would go out as it is."""
    if opened is not None:
        with suppress(OSError):  # the other side was faster
            super(type(opened), opened).shutdown(_BOTH_WAYS)
