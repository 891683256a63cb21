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
        exclusive: Nobody else can use the room at the same time.
    """

    engine: EngineName
    key: object
    model: str = ""
    exclusive: bool = False


@dataclass(frozen=True)
class _Use:
    """A turn that is running."""

    request: QueueRequest
    exclusive: bool


@dataclass(frozen=True)
class _Loaded:
    """The key that an engine has loaded, and how many can use it at once."""

    key: object
    at_once: int


class QueueRules:
    """The rules that decide whose turn it is: pure.

    Each user has a number and goes through `join`, `request`, waiting until `admitted`, `ready`
    and `leave`. A user that has joined without calling `request` blocks everyone who joined later,
    so it calls `request` at once.
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
        self._loaded: dict[EngineName, _Loaded] = {}

    def join(self, *, guest: bool = False) -> int:
        """Add a user at the end of the queue, and return its number."""
        number = next(self._numbers)
        self._waiting[number] = None
        if guest:
            self._guests.add(number)
        return number

    def request(self, number: int, request: QueueRequest) -> None:
        """Say which model a waiting user needs."""
        self._waiting[number] = request
        self._admit()

    def admitted(self, number: int) -> bool:
        """Return whether a user may prepare or use its model now."""
        return number in self._using

    def is_alone(self, number: int) -> bool:
        """Return whether nobody else uses the room now, or can before `ready`."""
        return self._using[number].exclusive

    def ready(self, number: int, at_once: int) -> None:
        """Record that the model is loaded, for so many users at once."""
        use = self._using[number]
        self._loaded[use.request.engine] = _Loaded(use.request.key, at_once)
        self._using[number] = replace(use, exclusive=use.request.exclusive)
        self._admit()

    def leave(self, number: int) -> None:
        """Record that a user needs nothing more. Leaving twice does nothing."""
        self._waiting.pop(number, None)
        self._using.pop(number, None)
        self._guests.discard(number)
        self._admit()

    def emptied(self, engine: EngineName) -> None:
        """Record that nothing is loaded in the engine any more."""
        self._loaded.pop(engine, None)

    def doubt(self, engine: EngineName) -> None:
        """Give the next user the room alone, to check that the model is still loaded."""
        loaded = self._loaded.get(engine)
        if loaded is not None:
            self._loaded[engine] = replace(loaded, at_once=0)

    def in_use(self, engine: EngineName) -> bool:
        """Return whether anybody uses this engine."""
        return any(use.request.engine == engine for use in self._using.values())

    def why(self, number: int) -> Wait | None:
        """Return why a user has to wait; None if it does not, or has not called `request`."""
        request = self._waiting.get(number)
        if request is None:
            return None
        ahead = sum(
            self._place(other_number) < self._place(number)
            and (other_request is None or self._room(other_request) == self._room(request))
            for other_number, other_request in self._waiting.items()
        )
        return Wait("queue", count=ahead) if ahead else self._obstacle(number, request)

    def _admit(self) -> None:
        full: set[str] = set()
        for number in sorted(self._waiting, key=self._place):
            request = self._waiting[number]
            if request is None:
                return  # it can turn out to need any room
            room = self._room(request)
            if room in full or self._obstacle(number, request) is not None:
                full.add(room)
                continue
            del self._waiting[number]
            is_first = not self._users(room)
            self._using[number] = _Use(request, exclusive=request.exclusive or is_first)

    def _place(self, number: int) -> tuple[bool, int]:
        """Return the sort key of those that wait."""
        return number in self._guests, number

    def _obstacle(self, number: int, request: QueueRequest) -> Wait | None:
        users = self._users(self._room(request))
        if not users:
            return None
        model = users[0].request.model
        if users[0].exclusive:
            return Wait("alone" if users[0].request.exclusive else "loading", model)
        loaded = self._loaded.get(request.engine)
        if request.exclusive or loaded is None or loaded.key != request.key or not loaded.at_once:
            return Wait("model", model)
        most = max(1, loaded.at_once - 1) if number in self._guests else loaded.at_once
        return Wait("full", model, most) if len(users) >= most else None

    def _users(self, room: str) -> list[_Use]:
        return [use for use in self._using.values() if self._room(use.request) == room]

    def _room(self, request: QueueRequest) -> str:
        return self._rooms[request.engine]


WaitListener = Callable[[Wait | None], None]
"""Called on the waiting thread: with the reason each time it changes, and with None at the turn."""


def _ignore(_: Wait | None) -> None:
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

    def join(self, listener: WaitListener = _ignore, *, guest: bool = False) -> Ticket:
        """Take a place in the queue. The caller has to leave it in the end.

        Args:
            listener: Called when the reason for waiting changes.
            guest: The request comes from another program and goes after the user's own.
        """
        with self._changed:
            return Ticket(self._rules, self._changed, listener, guest=guest)

    def emptied(self, engine: EngineName) -> None:
        """Record that nothing is loaded any more; called by the turn that has the engine alone."""
        with self._changed:
            self._rules.emptied(engine)

    def in_use(self, engine: EngineName) -> bool:
        """Return whether the engine is working or loading a model."""
        with self._changed:
            return self._rules.in_use(engine)


class Ticket:
    """A place in the queue. `enter` is called once, everything else from any thread.

    As a context manager it leaves at the end.

    Attributes:
        joined: When it joined, in seconds of `time.monotonic`.
    """

    def __init__(
        self,
        rules: QueueRules,
        changed: threading.Condition,
        listener: WaitListener,
        *,
        guest: bool = False,
    ) -> None:
        self._rules = rules
        self._changed = changed
        self._listener = listener
        self.joined = time.monotonic()
        self._number = rules.join(guest=guest)
        self._request: QueueRequest | None = None

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
        """The engine that it is for; None before `enter`."""
        return self._request.engine if self._request else None

    @property
    def is_alone(self) -> bool:
        """True if nobody else uses the room, or can before `ready`."""
        with self._changed:
            return self._rules.is_alone(self._number)

    def enter(self, request: QueueRequest, cancel: CancelToken) -> None:
        """Wait for the turn. Raises Cancelled; leave the place then as well."""
        self._request = request
        with self._changed:
            self._rules.request(self._number, request)
            self._changed.notify_all()
            if self._rules.admitted(self._number):
                return
        forget = cancel.on_cancel(self._wake)
        try:
            self._wait(cancel)
        finally:
            forget()
        self._listener(None)

    def ready(self, at_once: int) -> None:
        """Let others share the model, so many at once: it is loaded now."""
        with self._changed:
            self._rules.ready(self._number, at_once)
            self._changed.notify_all()

    def doubt(self) -> None:
        """Make the next user check that the model is still loaded."""
        with self._changed:
            if self._request is not None:
                self._rules.doubt(self._request.engine)

    def leave(self) -> None:
        """Give up the place. Leaving twice does nothing."""
        with self._changed:
            self._rules.leave(self._number)
            self._changed.notify_all()

    def _wait(self, cancel: CancelToken) -> None:
        reported: Wait | None = None
        while True:
            with self._changed:
                self._changed.wait_for(partial(self._is_over, cancel, reported))
                if cancel.cancelled:
                    raise Cancelled
                if self._rules.admitted(self._number):
                    return
                reported = self._rules.why(self._number)
            self._listener(reported)

    def _is_over(self, cancel: CancelToken, reported: Wait | None) -> bool:
        if cancel.cancelled or self._rules.admitted(self._number):
            return True
        return self._rules.why(self._number) != reported

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
