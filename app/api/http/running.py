"""Runs the work of requests on threads, and passes its items to the event loop."""

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

MOST: Final = 256
"""Maximum number of requests, running or waiting; each has a thread."""
_END_S: Final = 10.0
"""Maximum time in seconds to wait for the thread of a cancelled request."""


class ServerFull(AppError):
    """Too many requests are running or waiting."""

    code = "server_full"


class RequestWork(Generic[T]):
    """One request's work on its own thread. Used on the event loop; ended by `close`."""

    def __init__(self, work: Callable[[CancelToken], Iterator[T]], ended: Callable[[], None]):
        self.cancel = CancelToken()
        self._work = work
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[tuple[T] | BaseException | None] = asyncio.Queue()
        self._next: tuple[T] | BaseException | None = None
        self._looked = False
        self.thread = threading.Thread(target=self._run, name="api request", daemon=True)

    async def begin(self, wait_s: float) -> None:
        """Wait for the first item, at most this many seconds; an error of the work is raised."""
        with suppress(TimeoutError):
            await self._look(wait_s)
            if isinstance(self._next, BaseException):
                raise self._next

    async def next(self, wait_s: float | None = None) -> T | None:
        """Return the next item; None at the end.

        Raises:
            TimeoutError: Nothing came within `wait_s` seconds. Whatever the work raises is raised
                too.
        """
        await self._look(wait_s)
        item, self._looked = self._next, False
        if isinstance(item, BaseException):
            raise item
        return item[0] if item is not None else None

    def close(self) -> None:
        """Cancel the work if it is still running."""
        self.cancel.cancel()

    async def _look(self, wait_s: float | None) -> None:
        if not self._looked:
            self._next = await asyncio.wait_for(self._items.get(), wait_s)
            self._looked = True

    def _run(self) -> None:
        try:
            for item in self._work(self.cancel):
                self._put((item,))
            self._put(None)
        except BaseException as error:  # noqa: BLE001  it is raised again where it is awaited
            self._put(error)
        finally:
            self._ended()

    def _put(self, item: tuple[T] | BaseException | None) -> None:
        # If the server has stopped, nothing waits for the item.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)


class Runs:
    """All running requests: starts them, and ends them with the server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[RequestWork[object]] = set()

    def start(self, work: Callable[[CancelToken], Iterator[T]]) -> RequestWork[T]:
        """Start a request's work. Raises ServerFull."""
        running: RequestWork[T] = RequestWork(work, lambda: self._forget(running))
        with self._lock:
            if len(self._running) >= MOST:
                raise ServerFull(
                    "There is too much to do.",
                    f"{MOST} requests are being answered or wait already.",
                    "Ask again in a while.",
                )
            self._running.add(running)  # type: ignore[arg-type]  # only ended from here
        running.thread.start()
        return running

    def close(self) -> None:
        """Cancel all requests and wait for their threads."""
        with self._lock:
            running = list(self._running)
        for it in running:
            it.close()
        for it in running:
            it.thread.join(_END_S)

    def _forget(self, running: RequestWork[T]) -> None:
        with self._lock:
            self._running.discard(running)


async def until_gone(request: Request, work: Awaitable[T]) -> T | None:
    """Wait for work while its client is connected; otherwise cancel it and return None."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for it in (task, gone):
            it.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
