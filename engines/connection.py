"""The connection of one request, which another thread can hang up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from engines.cancel import CancelToken

Trace = Callable[[str, dict[str, Any]], None]
"""A callback for each step of a request: httpcore2's “trace” extension."""

_BOTH_WAYS: Final = 2
"""`socket.SHUT_RDWR`, the same number on all systems."""

_EXTENSION: Final = "hearth.connection"


class Connection:
    """A handle with which another thread ends a request, whatever the request is waiting for.

    Send the request with its `extensions`; through them the client that sends it learns who ended
    it. One object can serve several requests, one after the other.

    Closing a socket does not wake a thread that waits in a read; a shutdown does, and it also ends
    the answer on the server. While a connection opens, this object holds a second handle of its
    socket, since TLS detaches the first one for the handshake.

    Attributes:
        whole: Whether the whole answer has arrived, even if the connection is still open.

    Example::

        with Connection.ended_by(cancel) as connection:
            client.get(address, extensions=connection.extensions)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: Any = None
        self._second: Any = None
        self._hung_up = self._over = False
        self._leavers: set[Callable[[], None]] = set()
        self.whole = False

    @classmethod
    @contextmanager
    def ended_by(cls, cancel: CancelToken) -> Iterator[Connection]:
        """Make a connection that a cancel hangs up until the end of the block."""
        connection = cls()
        forget = cancel.on_cancel(connection.hang_up)
        try:
            yield connection
        finally:
            forget()
            connection.let_go()

    @staticmethod
    def of(extensions: Mapping[str, Any]) -> Connection:
        """Return the connection in a request's extensions, or a new one that nobody hangs up."""
        found = extensions.get(_EXTENSION)
        return found if isinstance(found, Connection) else Connection()

    @property
    def extensions(self) -> dict[str, Any]:
        """The extensions to send with a request of httpx2."""
        return {"trace": self.watch, _EXTENSION: self}

    @property
    def hung_up(self) -> bool:
        return self._hung_up

    def hang_up(self) -> None:
        """End the request under way; its reads fail soon. Any thread may call this at any time."""
        with self._lock:
            self._hung_up = True
            shut(self._socket)
            leavers = list(self._leavers)
        for leave in leavers:
            leave()

    @contextmanager
    def left_by(self, leave: Callable[[], None]) -> Iterator[None]:
        """Call `leave` if the connection is hung up within the block; at once if it already was."""
        with self._lock:
            self._leavers.add(leave)
            hung_up = self._hung_up
        if hung_up:
            leave()
        try:
            yield
        finally:
            with self._lock:
                self._leavers.discard(leave)

    def begin(self) -> None:
        """Note that a request is about to be sent."""
        with self._lock:
            self._over = False

    def watch(self, event: str, told: dict[str, Any]) -> None:
        """Take the socket from the trace events of a request, once it is open."""
        if event.endswith(("connect_tcp.complete", "unix_socket.complete")):
            second = told["return_value"].get_extra_info("socket").dup()
            with self._lock:
                self._take(second)
                if self._over:
                    shut(second)
                    second.close()
                else:
                    self._second = second

    def hold(self, stream: Any) -> None:
        """Take the socket of a network stream; a reused connection has no event for opening it."""
        with self._lock:
            self._take(stream.get_extra_info("socket"))

    def let_go(self) -> None:
        """Note that the request is over; its connection can serve other requests from now on.

        A connection that opens only now, after its request ended, is shut at once.
        """
        with self._lock:
            self._take(None)
            self._over = True

    def _take(self, opened: Any) -> None:
        if self._second is not None:
            self._second.close()
            self._second = None
        self._socket = opened
        if self._hung_up:
            shut(opened)


def shut(opened: Any) -> None:
    """Shut a socket down in both directions; do nothing for None.

    This calls the method of the plain socket: that of a TLS socket first drops its cipher, and
    data being written would go out unencrypted.
    """
    if opened is not None:
        with suppress(OSError):  # the other side closed it first
            super(type(opened), opened).shutdown(_BOTH_WAYS)
