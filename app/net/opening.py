"""A request on its way to the head of its answer, which whoever waits for it may leave at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2


class Opening:
    """One request, on a thread of its own until its answer begins.

    Nothing wakes a look-up of a host, and nothing on every system a connection that is being
    opened. So `leave` ends the waiting alone; the thread closes what it is still given.
    """

    def __init__(self, send: Callable[[], httpx2.Response]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._known = threading.Event()
        self._left = False
        self._response: httpx2.Response | None = None
        self._error: BaseException | None = None

    def response(self) -> httpx2.Response:
        """Raises what `send` raises, or ConnectError where it was left."""
        import httpx2

        threading.Thread(target=self._carry_out, name="hearth-request", daemon=True).start()
        try:
            self._known.wait()
        except BaseException:
            if (begun := self._taken()) is not None:
                begun.close()
            raise
        response = self._taken()
        if response is not None:
            return response
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # it holds this call, which holds it
        raise httpx2.ConnectError("left")

    def leave(self) -> None:
        """From any thread, at any time; an answer that has begun is not touched."""
        self._known.set()

    def _taken(self) -> httpx2.Response | None:
        """The answer, if it has begun; otherwise nobody waits for it from now on."""
        with self._lock:
            self._left = self._response is None
            return self._response

    def _carry_out(self) -> None:
        try:
            response = self._send()
        except BaseException as error:  # noqa: BLE001 - raised again on the waiting thread
            self._error = error
        else:
            with self._lock:
                late = self._left
                if not late:
                    self._response = response
            if late:
                response.close()
        self._known.set()
