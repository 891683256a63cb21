"""A request on its way: whoever waits for it may leave at once, and it has to end in time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from app.net.connection_pool import OPENED, Trace, shut

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


class Deadline:
    """Shuts the connection of a request that takes longer in all, whatever it waits for.

    A limit on each read does not end a server that sends a byte now and then.
    within_s: seconds from now; None for a request that takes what it takes.
    """

    def __init__(self, within_s: float | None) -> None:
        self.passed = False
        self._lock = threading.Lock()
        self._opened: Any = None
        self._leave: Callable[[], None] = _nobody
        self._timer = threading.Timer(within_s or 0.0, self._pass)
        self._timer.daemon = True
        if within_s is not None:
            self._timer.start()

    def cancel(self) -> None:
        """The request is over."""
        self._timer.cancel()

    def watching(self, also: Trace | None) -> Trace:
        """What the request is watched by, for the connection that it opens. also: who else is."""

        def watch(event: str, told: dict[str, Any]) -> None:
            if event.endswith(OPENED):
                self.hold(told["return_value"])
            if also is not None:
                also(event, told)

        return watch

    def hold(self, stream: Any) -> None:
        """The network stream that the request uses; a kept connection is opened by no step."""
        if stream is None:
            return
        with self._lock:
            self._opened = stream.get_extra_info("socket")
            if self.passed:
                shut(self._opened)

    @contextmanager
    def leaving(self, leave: Callable[[], None]) -> Iterator[None]:
        """Who waits within for the answer to begin leaves at the deadline."""
        self._leave = leave
        if self.passed:
            leave()
        try:
            yield
        finally:
            self._leave = _nobody

    def require(self, error: Exception | None = None) -> None:
        """Raises ReadTimeout if it has passed. error: what came of that."""
        import httpx2

        if self.passed:
            raise httpx2.ReadTimeout("not whole in time") from error

    def _pass(self) -> None:
        with self._lock:
            self.passed = True
            if self._opened is not None:
                shut(self._opened)
        self._leave()


def _nobody() -> None:
    """Nobody waits."""
