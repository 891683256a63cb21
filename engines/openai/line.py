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
    that, and it ends the answer on the server.

    whole: what was asked for has come, though the connection may still be open.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stream: Any = None
        self._hung_up = False
        self.whole = False

    def watch(self, event: str, told: dict[str, Any]) -> None:
        """Each step of the request."""
        if event.endswith(("connect_tcp.complete", "unix_socket.complete", "start_tls.complete")):
            self.hold(told["return_value"])

    def hold(self, stream: Any) -> None:
        """The network stream that the request uses; a kept connection is opened by no step."""
        with self._lock:
            self._stream = stream
            if self._hung_up:
                _shut(stream)

    def hang_up(self) -> None:
        """From any thread, at any time; what reads fails soon."""
        with self._lock:
            self._hung_up = True
            if self._stream is not None:
                _shut(self._stream)

    @property
    def hung_up(self) -> bool:
        return self._hung_up


def _shut(stream: Any) -> None:
    opened = stream.get_extra_info("socket")
    if opened is not None:
        with suppress(OSError):  # the other side was faster
            opened.shutdown(_BOTH_WAYS)
