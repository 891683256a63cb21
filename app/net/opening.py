"""A request on its way: its caller can stop waiting at once, and it must end in time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from engines.connection import Connection
from engines.sentences import N_

if TYPE_CHECKING:
    import httpx2


class Opening:
    """A request on a thread of its own until its response begins.

    Nothing can interrupt a host look-up, and not every system can interrupt a connection being
    opened. So `leave` ends only the waiting; the thread closes any response that comes later.
    """

    def __init__(self, send: Callable[[], httpx2.Response]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._finished = threading.Event()
        self._abandoned = False
        self._response: httpx2.Response | None = None
        self._error: BaseException | None = None

    def response(self) -> httpx2.Response:
        """Wait for the response. Raises the error of `send`, or ConnectError after `leave`."""
        import httpx2

        threading.Thread(target=self._carry_out, name="hearth-request", daemon=True).start()
        try:
            self._finished.wait()
        except BaseException:
            if (response := self._take_response()) is not None:
                response.close()
            raise
        response = self._take_response()
        if response is not None:
            return response
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # breaks the reference cycle between the error and this call
        raise httpx2.ConnectError("left")

    def leave(self) -> None:
        """Stop waiting; a response that has begun is not touched. Any thread may call this."""
        self._finished.set()

    def _take_response(self) -> httpx2.Response | None:
        """Return the response if it has begun; if not, the caller no longer waits for it."""
        with self._lock:
            self._abandoned = self._response is None
            return self._response

    def _carry_out(self) -> None:
        try:
            response = self._send()
        except BaseException as error:  # noqa: BLE001 - raised again on the waiting thread
            self._error = error
        else:
            with self._lock:
                late = self._abandoned
                if not late:
                    self._response = response
            if late:
                response.close()
        self._finished.set()


class Deadline:
    """A timer that hangs up on a request that takes too long as a whole.

    A limit on each read would not end a server that sends a byte now and then.

    Args:
        within_s: Seconds from now; None for no limit.

    Attributes:
        passed: Whether the deadline has passed.
        connection: The connection to hang up; it is notified of what the request opens.
    """

    def __init__(self, within_s: float | None) -> None:
        self.passed = False
        self.connection = Connection()
        self._timer = threading.Timer(within_s or 0.0, self._pass)
        self._timer.daemon = True
        if within_s is not None:
            self._timer.start()

    def cancel(self) -> None:
        """Note that the request is over."""
        self._timer.cancel()
        self.connection.release()

    def require(self, error: Exception | None = None) -> None:
        """Raise ReadTimeout if the deadline has passed.

        Args:
            error: The error that the hang-up caused.
        """
        import httpx2

        if self.passed:
            raise httpx2.ReadTimeout(N_("not complete in time")) from error

    def _pass(self) -> None:
        self.passed = True
        self.connection.hang_up()
