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

_READ_AND_WRITE: Final = 2
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
        is_complete: Whether the whole answer has arrived, even if the connection is still open.

    Example::

        with Connection.ended_by(cancel) as connection:
            client.get(address, extensions=connection.extensions)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: Any = None
        self._duplicate: Any = None
        self._hung_up = self._finished = False
        self._callbacks: set[Callable[[], None]] = set()
        self.is_complete = False

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
            connection.release()

    @staticmethod
    def of(extensions: Mapping[str, Any]) -> Connection:
        """Return the connection in a request's extensions, or a new one that nobody hangs up."""
        connection = extensions.get(_EXTENSION)
        return connection if isinstance(connection, Connection) else Connection()

    @property
    def extensions(self) -> dict[str, Any]:
        """The extensions to send with a request of httpx2."""
        return {"trace": self.watch, _EXTENSION: self}

    @property
    def hung_up(self) -> bool:
        """True if another thread has ended the request."""
        return self._hung_up

    def hang_up(self) -> None:
        """End the request under way; its reads fail soon. Any thread may call this at any time."""
        with self._lock:
            self._hung_up = True
            shut(self._socket)
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    @contextmanager
    def on_hang_up(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call a function once the connection is hung up, if that happens within the block."""
        with self._lock:
            self._callbacks.add(callback)
            hung_up = self._hung_up
        if hung_up:
            callback()
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.discard(callback)

    def begin(self) -> None:
        """Note that a request is about to be sent."""
        with self._lock:
            self._finished = False

    def watch(self, event: str, info: dict[str, Any]) -> None:
        """Take the socket from the trace events of a request, once it is open."""
        if event.endswith(("connect_tcp.complete", "unix_socket.complete")):
            duplicate = info["return_value"].get_extra_info("socket").dup()
            with self._lock:
                self._replace_socket(duplicate)
                if self._finished:
                    shut(duplicate)
                    duplicate.close()
                else:
                    self._duplicate = duplicate

    def attach(self, stream: Any) -> None:
        """Take the socket of a network stream; a reused connection has no event for opening it."""
        with self._lock:
            self._replace_socket(stream.get_extra_info("socket"))

    def release(self) -> None:
        """Note that the request is over; its connection can serve other requests from now on.

        A connection that opens only now, after its request ended, is shut at once.
        """
        with self._lock:
            self._replace_socket(None)
            self._finished = True

    def _replace_socket(self, socket_: Any) -> None:
        if self._duplicate is not None:
            self._duplicate.close()
            self._duplicate = None
        self._socket = socket_
        if self._hung_up:
            shut(socket_)


def shut(socket_: Any) -> None:
    """Shut a socket down in both directions; do nothing for None.

    This calls the method of the plain socket: that of a TLS socket first drops its cipher, and
    data being written would go out unencrypted.
    """
    if socket_ is not None:
        with suppress(OSError):  # the other side closed it first
            super(type(socket_), socket_).shutdown(_READ_AND_WRITE)
