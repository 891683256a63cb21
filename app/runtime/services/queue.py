"""The queue for the engines: who can use which one, and what the others are waiting for.

Engines are grouped into rooms: those whose models are in this computer's memory share one, and
every other engine has its own. A room works on one model at a time, and runs as many answers side
by side as its engine can. Within a room, turns come in the order of joining, so that nobody
starves. Guests, which come from other programs, go after everyone else, and leave one place free if
there are several. Rooms are independent of each other. The first user of an empty room has it alone
until the model is ready, so that nothing is loaded or unloaded during an answer.

`QueueRules` implements this for numbers, and is pure; `EngineQueue` makes threads wait by these
rules, each with its `Ticket`. Nothing else decides who can use an engine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING

from app.runtime.values.wait import Wait
from engines.errors import Cancelled

if TYPE_CHECKING:
    from engines.cancel import CancelToken
    from engines.types import EngineName


@dataclass(frozen=True)
class QueueRequest:
    """A request for a turn on an engine.

    Attributes:
        key: What has to be loaded; requests with equal keys can share it.
        model: The model's name, shown to others that wait.
        alone: Nobody else can use the room at the same time.
    """

    engine: EngineName
    key: object
    model: str = ""
    alone: bool = False


@dataclass(frozen=True)
class _Use:
    """A turn that is running."""

    want: QueueRequest
    alone: bool


@dataclass(frozen=True)
class _Held:
    """The key that an engine has loaded, and how many can use it at once."""

    key: object
    at_once: int


class QueueRules:
    """The rules that decide whose turn it is: pure.

    Each user has a number and goes through `join`, `want`, waiting until `admitted`, `ready` and
    `leave`. A user that has joined without calling `want` blocks everyone who joined later, so it
    calls `want` at once.
    """

    def __init__(self, rooms: Mapping[EngineName, str]) -> None:
        """Begin with an empty queue.

        Args:
            rooms: The room of each engine, by any name.
        """
        self._rooms = rooms
        self._numbers = count(1)
        self._guests: set[int] = set()
        self._waiting: dict[int, QueueRequest | None] = {}
        self._using: dict[int, _Use] = {}
        self._held: dict[EngineName, _Held] = {}

    def join(self, *, guest: bool = False) -> int:
        number = next(self._numbers)
        self._waiting[number] = None
        if guest:
            self._guests.add(number)
        return number

    def want(self, number: int, want: QueueRequest) -> None:
        self._waiting[number] = want
        self._admit()

    def admitted(self, number: int) -> bool:
        return number in self._using

    def is_alone(self, number: int) -> bool:
        """Return whether nobody else uses the room now, or can before `ready`."""
        return self._using[number].alone

    def ready(self, number: int, at_once: int) -> None:
        """Record that the model is loaded, for so many users at once."""
        use = self._using[number]
        self._held[use.want.engine] = _Held(use.want.key, at_once)
        self._using[number] = replace(use, alone=use.want.alone)
        self._admit()

    def leave(self, number: int) -> None:
        """Record that a user needs nothing more. Leaving twice does nothing."""
        self._waiting.pop(number, None)
        self._using.pop(number, None)
        self._guests.discard(number)
        self._admit()

    def emptied(self, engine: EngineName) -> None:
        """Record that nothing is loaded in the engine any more."""
        self._held.pop(engine, None)

    def doubt(self, engine: EngineName) -> None:
        """Give the next user the room alone, to check that the model is still loaded."""
        held = self._held.get(engine)
        if held is not None:
            self._held[engine] = replace(held, at_once=0)

    def in_use(self, engine: EngineName) -> bool:
        return any(use.want.engine == engine for use in self._using.values())

    def why(self, number: int) -> Wait | None:
        """Return why a user has to wait; None if it does not, or has not called `want`."""
        want = self._waiting.get(number)
        if want is None:
            return None
        ahead = sum(
            self._place(other) < self._place(number)
            and (its is None or self._room(its) == self._room(want))
            for other, its in self._waiting.items()
        )
        return Wait("queue", count=ahead) if ahead else self._in_the_way(number, want)

    def _admit(self) -> None:
        full: set[str] = set()
        for number in sorted(self._waiting, key=self._place):
            want = self._waiting[number]
            if want is None:
                return  # it can turn out to need any room
            room = self._room(want)
            if room in full or self._in_the_way(number, want) is not None:
                full.add(room)
                continue
            del self._waiting[number]
            is_first = not self._users(room)
            self._using[number] = _Use(want, alone=want.alone or is_first)

    def _place(self, number: int) -> tuple[bool, int]:
        """Return the sort key of those that wait."""
        return number in self._guests, number

    def _in_the_way(self, number: int, want: QueueRequest) -> Wait | None:
        users = self._users(self._room(want))
        if not users:
            return None
        model = users[0].want.model
        if users[0].alone:
            return Wait("alone" if users[0].want.alone else "loading", model)
        held = self._held.get(want.engine)
        if want.alone or held is None or held.key != want.key or not held.at_once:
            return Wait("model", model)
        most = max(1, held.at_once - 1) if number in self._guests else held.at_once
        return Wait("full", model, most) if len(users) >= most else None

    def _users(self, room: str) -> list[_Use]:
        return [use for use in self._using.values() if self._room(use.want) == room]

    def _room(self, want: QueueRequest) -> str:
        return self._rooms[want.engine]


WaitListener = Callable[[Wait | None], None]
"""Called on the waiting thread: with the reason each time it changes, and with None at the turn."""


def _unheard(_: Wait | None) -> None:
    """Do nothing: a listener that ignores waiting."""


class EngineQueue:
    """Gives each user of an engine its turn. Safe from any thread."""

    def __init__(self, rooms: Mapping[EngineName, str]) -> None:
        """Begin with an empty queue.

        Args:
            rooms: See `QueueRules`.
        """
        self._rules = QueueRules(rooms)
        self._changed = threading.Condition()

    def join(self, told: WaitListener = _unheard, *, guest: bool = False) -> Ticket:
        """Take a place in the queue. The caller has to leave it in the end.

        Args:
            told: Called when the reason for waiting changes.
            guest: The request comes from another program and goes after the user's own.
        """
        with self._changed:
            return Ticket(self._rules, self._changed, told, guest=guest)

    def emptied(self, engine: EngineName) -> None:
        """Record that nothing is loaded any more; called by the turn that has the engine alone."""
        with self._changed:
            self._rules.emptied(engine)

    def in_use(self, engine: EngineName) -> bool:
        """Return whether the engine is working or loading a model."""
        with self._changed:
            return self._rules.in_use(engine)


class Ticket:
    """A place in the queue. `come` is called once, everything else from any thread.

    As a context manager it leaves at the end.

    Attributes:
        joined: When it joined, in seconds of `time.monotonic`.
    """

    def __init__(
        self,
        rules: QueueRules,
        changed: threading.Condition,
        told: WaitListener,
        *,
        guest: bool = False,
    ) -> None:
        self._rules = rules
        self._changed = changed
        self._told = told
        self.joined = time.monotonic()
        self._number = rules.join(guest=guest)
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
        """The engine that it is for; None before `come`."""
        return self._want.engine if self._want else None

    @property
    def is_alone(self) -> bool:
        """Whether nobody else uses the room, nor can before `ready`."""
        with self._changed:
            return self._rules.is_alone(self._number)

    def come(self, want: QueueRequest, cancel: CancelToken) -> None:
        """Wait for the turn. Raises Cancelled; leave the place then as well."""
        self._want = want
        with self._changed:
            self._rules.want(self._number, want)
            self._changed.notify_all()
            if self._rules.admitted(self._number):
                return
        forget = cancel.on_cancel(self._wake)
        try:
            self._wait(cancel)
        finally:
            forget()
        self._told(None)

    def ready(self, at_once: int) -> None:
        """Let others share the model, so many at once: it is loaded now."""
        with self._changed:
            self._rules.ready(self._number, at_once)
            self._changed.notify_all()

    def doubt(self) -> None:
        """Make the next user check that the model is still loaded."""
        with self._changed:
            if self._want is not None:
                self._rules.doubt(self._want.engine)

    def leave(self) -> None:
        """Give up the place. Leaving twice does nothing."""
        with self._changed:
            self._rules.leave(self._number)
            self._changed.notify_all()

    def _wait(self, cancel: CancelToken) -> None:
        told: Wait | None = None
        while True:
            with self._changed:
                self._changed.wait_for(partial(self._is_over, cancel, told))
                if cancel.cancelled:
                    raise Cancelled
                if self._rules.admitted(self._number):
                    return
                told = self._rules.why(self._number)
            self._told(told)

    def _is_over(self, cancel: CancelToken, told: Wait | None) -> bool:
        if cancel.cancelled or self._rules.admitted(self._number):
            return True
        return self._rules.why(self._number) != told

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
