"""The work of requests on threads, which passes its items to the event loop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Final, Generic, TypeVar

from starlette.requests import Request

from app.base.errors import AppError
from engines.cancel import CancelToken

logger = logging.getLogger(__name__)
T = TypeVar("T")

MOST_REQUESTS: Final = 256
"""Maximum number of requests, running or waiting; each has a thread."""
_JOIN_S: Final = 10.0
"""Maximum time in seconds to wait for the thread of a cancelled request."""


class ServerFull(AppError):
    """Too many requests are running or waiting."""

    code = "server_full"


class RequestWork(Generic[T]):
    """One request's work on its own thread. Used on the event loop; ended by `close`."""

    def __init__(self, work: Callable[[CancelToken], Iterator[T]], ended: Callable[[], None]):
        self.cancel = CancelToken()
        self._work = work
        self._on_end = ended
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[tuple[T] | BaseException | None] = asyncio.Queue()
        self._next: tuple[T] | BaseException | None = None
        self._has_next = False
        self.thread = threading.Thread(target=self._run, name="api request", daemon=True)

    async def wait_for_first(self, wait_s: float) -> bool:
        """Wait for the first item, at most this many seconds; an error of the work is raised.

        Returns:
            True, for `while_connected`.
        """
        with suppress(TimeoutError):
            await self._fetch_next(wait_s)
            if isinstance(self._next, BaseException):
                raise self._next
        return True

    async def next(self, wait_s: float | None = None) -> T | None:
        """Return the next item; None at the end.

        Raises:
            TimeoutError: Nothing came within `wait_s` seconds. Whatever the work raises is raised
                too.
        """
        await self._fetch_next(wait_s)
        item, self._has_next = self._next, False
        if isinstance(item, BaseException):
            raise item
        return item[0] if item is not None else None

    def close(self) -> None:
        """Cancel the work if it is still running."""
        self.cancel.cancel()

    async def _fetch_next(self, wait_s: float | None) -> None:
        if not self._has_next:
            self._next = await asyncio.wait_for(self._items.get(), wait_s)
            self._has_next = True

    def _run(self) -> None:
        try:
            for item in self._work(self.cancel):
                self._put((item,))
            self._put(None)
        except BaseException as error:  # noqa: BLE001  it is raised again where it is awaited
            self._put(error)
        finally:
            self._on_end()

    def _put(self, item: tuple[T] | BaseException | None) -> None:
        # If the server has stopped, nothing waits for the item.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)


class RunningRequests:
    """All running requests; they end with the server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[RequestWork[object]] = set()

    def start(self, work: Callable[[CancelToken], Iterator[T]]) -> RequestWork[T]:
        """Start a request's work. Raises ServerFull."""
        request: RequestWork[T] = RequestWork(work, lambda: self._forget(request))
        with self._lock:
            if len(self._running) >= MOST_REQUESTS:
                raise ServerFull(
                    "The server is too busy.",
                    f"{MOST_REQUESTS} requests are already being answered or waiting.",
                    "Send the request again in a while.",
                )
            self._running.add(request)  # type: ignore[arg-type]  # only ended from here
        request.thread.start()
        return request

    def close(self) -> None:
        """Cancel all requests and wait for their threads."""
        with self._lock:
            running = list(self._running)
        for request in running:
            request.close()
        for request in running:
            request.thread.join(_JOIN_S)

    def _forget(self, request: RequestWork[T]) -> None:
        with self._lock:
            self._running.discard(request)


async def while_connected(request: Request, work: Awaitable[T]) -> T | None:
    """Wait for work while its client is connected; otherwise cancel it and return None."""
    task = asyncio.ensure_future(work)
    disconnect = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({task, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for awaited in (task, disconnect):
            awaited.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
