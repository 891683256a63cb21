"""The connection of one request, which another thread may hang up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

_BOTH_WAYS: Final = 2
"""`socket.SHUT_RDWR`, the same number on all systems."""


class Connection:
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
        self._hung_up = self._over = False
        self._leavers: set[Callable[[], None]] = set()
        self.whole = False

    def watch(self, event: str, told: dict[str, Any]) -> None:
        """Each step of the request."""
        if event.endswith(("connect_tcp.complete", "unix_socket.complete")):
            second = told["return_value"].get_extra_info("socket").dup()
            with self._lock:
                self._take(second)
                if self._over:
                    _shut(second)
                    second.close()
                else:
                    self._second = second

    def begin(self) -> None:
        """A request is about to be sent."""
        with self._lock:
            self._over = False

    def hold(self, stream: Any) -> None:
        """The network stream that the request uses; a kept connection is opened by no step."""
        with self._lock:
            self._take(stream.get_extra_info("socket"))

    def let_go(self) -> None:
        """The request is over: what becomes of its connection is no matter of the line's.

        One that only opens now, for somebody who has left, is shut at once.
        """
        with self._lock:
            self._take(None)
            self._over = True

    def hang_up(self) -> None:
        """From any thread, at any time; what reads fails soon."""
        with self._lock:
            self._hung_up = True
            _shut(self._socket)
            leavers = list(self._leavers)
        for leave in leavers:
            leave()

    def on_hang_up(self, leave: Callable[[], None]) -> Callable[[], None]:
        """Call `leave` when it is hung up, at once if it has been; returns what takes that back."""
        with self._lock:
            self._leavers.add(leave)
            hung_up = self._hung_up
        if hung_up:
            leave()
        return lambda: self._leavers.discard(leave)

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
