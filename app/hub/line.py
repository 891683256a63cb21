"""The connection of a transfer, which a cancel hangs up whatever it waits for there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from engines.cancel import CancelToken

_SHUT_BOTH_WAYS = 2

Watch = Callable[[str, dict[str, Any]], None]
"""Told of the steps of a request: httpcore2's “trace” extension."""


class _Socket(Protocol):
    def shutdown(self, how: int, /) -> None: ...

    def close(self) -> None: ...


@contextmanager
def hung_up_by(cancel: CancelToken) -> Iterator[Watch]:
    """Gives out what requests in the block are watched by; the last one's connection is shut by
    a cancel, which wakes who waits for a handshake, an answer or its bytes. Closing it instead
    would leave the reader waiting.

    It has to be a new connection for each request (`app.net.client` sees to that for downloads):
    only the opening of one shows it. A cancel does not end the opening itself.
    """
    line = _Line(cancel)
    forget = cancel.on_cancel(line.shut)
    try:
        yield line.watch
    finally:
        forget()
        line.close()


class _Line:
    """A second handle of the connection, since TLS takes the first one out of its socket."""

    def __init__(self, cancel: CancelToken) -> None:
        self._cancel = cancel
        self._lock = threading.Lock()
        self._socket: _Socket | None = None

    def watch(self, event: str, told: dict[str, Any]) -> None:
        if not event.endswith("connect_tcp.complete"):
            return
        self.close()
        with self._lock:
            self._socket = told["return_value"].get_extra_info("socket").dup()
        if self._cancel.cancelled:
            self.shut()

    def shut(self) -> None:
        with self._lock:
            if self._socket is None:
                return
            try:
                self._socket.shutdown(_SHUT_BOTH_WAYS)
            except OSError:
                return  # the other side was faster, so nobody waits for it

    def close(self) -> None:
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None
