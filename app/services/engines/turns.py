"""The line at the engines for threads: each waits in it for its turn."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING

from app.services.engines.queue import EngineQueue, QueueRequest, Wait
from engines.errors import Cancelled

if TYPE_CHECKING:
    from engines.cancel import CancelToken
    from engines.types import EngineName

Told = Callable[[Wait | None], None]
"""Hears why it waits, each time that changes, and None when its turn has come; on its thread."""


def _unheard(_: Wait | None) -> None:
    """Nobody wants to know."""


class Turns:
    """May be used from any thread."""

    def __init__(self, rooms: Mapping[EngineName, str]) -> None:
        self._line = EngineQueue(rooms)
        self._changed = threading.Condition()

    def join(self, told: Told = _unheard) -> Ticket:
        """A place in the line from now on. Whoever gets it has to leave it."""
        with self._changed:
            return Ticket(self._line, self._changed, told)

    def emptied(self, engine: EngineName) -> None:
        """Nothing is loaded there any more; told by one who has it alone."""
        with self._changed:
            self._line.emptied(engine)

    def in_use(self, engine: EngineName) -> bool:
        with self._changed:
            return self._line.in_use(engine)


class Ticket:
    """One place in the line. `come` is called once; all else from any thread.

    As a context manager it leaves at the end.
    """

    def __init__(self, line: EngineQueue, changed: threading.Condition, told: Told) -> None:
        self._line = line
        self._changed = changed
        self._told = told
        self._number = line.join()
        self._want: QueueRequest | None = None

    def __enter__(self) -> Ticket:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()

    @property
    def engine(self) -> EngineName | None:
        """The one that it wants; None before it has said so."""
        return self._want.engine if self._want else None

    @property
    def is_alone(self) -> bool:
        """Whether nobody else uses the room, nor can before `ready`."""
        with self._changed:
            return self._line.is_alone(self._number)

    def come(self, want: QueueRequest, cancel: CancelToken) -> None:
        """Wait for the turn. Raises Cancelled; it is to be left then as well."""
        self._want = want
        with self._changed:
            self._line.want(self._number, want)
            self._changed.notify_all()
            if self._line.admitted(self._number):
                return
        forget = cancel.on_cancel(self._wake)
        try:
            self._wait(cancel)
        finally:
            forget()
        self._told(None)

    def ready(self, at_once: int) -> None:
        """What it wanted is loaded: from now on others may use it as well, so many at once."""
        with self._changed:
            self._line.ready(self._number, at_once)
            self._changed.notify_all()

    def doubt(self) -> None:
        """What it uses may be gone; the next one has to look."""
        with self._changed:
            if self._want is not None:
                self._line.doubt(self._want.engine)

    def leave(self) -> None:
        """Others may have its place. Leaving twice does nothing."""
        with self._changed:
            self._line.leave(self._number)
            self._changed.notify_all()

    def _wait(self, cancel: CancelToken) -> None:
        told: Wait | None = None
        while True:
            with self._changed:
                self._changed.wait_for(partial(self._is_over, cancel, told))
                if cancel.cancelled:
                    raise Cancelled
                if self._line.admitted(self._number):
                    return
                told = self._line.why(self._number)
            self._told(told)

    def _is_over(self, cancel: CancelToken, told: Wait | None) -> bool:
        if cancel.cancelled or self._line.admitted(self._number):
            return True
        return self._line.why(self._number) != told

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
