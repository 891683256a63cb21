"""The queue at the engines: who may use which one, and what the others wait for.

Engines stand in rooms: those whose models lie in this computer's memory share one, any other has
its own. A room works on one model at a time, and gives as many answers with it side by side as its
engine can. Within a room all come in the order in which they joined, so that nobody starves; only
guests, who ask for another program, come behind everybody else, and where there are several places
leave one free. Rooms know nothing of each other. Who finds a room empty has it alone at first, to
get the model ready, so that nothing is loaded or unloaded under an answer.

`QueueRules` says so of numbers, and is pure; `EngineQueue` has threads wait by these rules, each
with its `Ticket`. Nothing else decides who may use an engine.
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
    """A wish to use an engine.

    key: what has to be ready in it; two requests with equal keys can share it. model: what that is
    called, for others to read. alone: nobody else may use the room meanwhile.
    """

    engine: EngineName
    key: object
    model: str = ""
    alone: bool = False


@dataclass(frozen=True)
class _Use:
    want: QueueRequest
    alone: bool


@dataclass(frozen=True)
class _Held:
    key: object
    at_once: int


class QueueRules:
    """Decides whose turn it is: pure.

    Each user has a number: `join`, `want`, wait until `admitted`, `ready`, `leave`.

    rooms: the room of each engine, by any name. Whoever has joined and not said yet what it wants
    holds up all that joined later, so it says so at once.
    """

    def __init__(self, rooms: Mapping[EngineName, str]) -> None:
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
        """Whether nobody else uses its room now, or can before it says `ready`."""
        return self._using[number].alone

    def ready(self, number: int, at_once: int) -> None:
        """Note that what it wants is loaded, for so many at once."""
        use = self._using[number]
        self._held[use.want.engine] = _Held(use.want.key, at_once)
        self._using[number] = replace(use, alone=use.want.alone)
        self._admit()

    def leave(self, number: int) -> None:
        """Note that it wants nothing more. Leaving twice does nothing."""
        self._waiting.pop(number, None)
        self._using.pop(number, None)
        self._guests.discard(number)
        self._admit()

    def emptied(self, engine: EngineName) -> None:
        """Note that nothing is loaded there any more."""
        self._held.pop(engine, None)

    def doubt(self, engine: EngineName) -> None:
        """Give the next user the room alone, to look: what was loaded there may be gone."""
        held = self._held.get(engine)
        if held is not None:
            self._held[engine] = replace(held, at_once=0)

    def in_use(self, engine: EngineName) -> bool:
        return any(use.want.engine == engine for use in self._using.values())

    def why(self, number: int) -> Wait | None:
        """Say why it has to wait; None if it does not, or has not said what it wants."""
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
                return  # it may need any room
            room = self._room(want)
            if room in full or self._in_the_way(number, want) is not None:
                full.add(room)
                continue
            del self._waiting[number]
            is_first = not self._users(room)
            self._using[number] = _Use(want, alone=want.alone or is_first)

    def _place(self, number: int) -> tuple[bool, int]:
        """Return what the order of those who wait goes by."""
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
"""Called on the thread that waits: with the reason each time it changes, with None at the turn."""


def _unheard(_: Wait | None) -> None:
    """Do nothing: the listener where nobody wants to know."""


class EngineQueue:
    """Gives each user of an engine its turn. May be used from any thread.

    rooms: as of `QueueRules`.
    """

    def __init__(self, rooms: Mapping[EngineName, str]) -> None:
        self._rules = QueueRules(rooms)
        self._changed = threading.Condition()

    def join(self, told: WaitListener = _unheard, *, guest: bool = False) -> Ticket:
        """Take a place in the queue from now on. Whoever gets it has to leave it.

        guest: it is asked for by another program, and comes behind who is asked for here.
        """
        with self._changed:
            return Ticket(self._rules, self._changed, told, guest=guest)

    def emptied(self, engine: EngineName) -> None:
        """Note that nothing is loaded there any more; called by one who has it alone."""
        with self._changed:
            self._rules.emptied(engine)

    def in_use(self, engine: EngineName) -> bool:
        """Whether somebody works with it, or loads a model into it."""
        with self._changed:
            return self._rules.in_use(engine)


class Ticket:
    """A place in the queue. `come` is called once; all else from any thread.

    As a context manager it leaves at the end. joined: when, in seconds of `time.monotonic`.
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
        """The engine that it wants; None before it has said so."""
        return self._want.engine if self._want else None

    @property
    def is_alone(self) -> bool:
        """Whether nobody else uses the room, nor can before `ready`."""
        with self._changed:
            return self._rules.is_alone(self._number)

    def come(self, want: QueueRequest, cancel: CancelToken) -> None:
        """Wait for the turn. Raises Cancelled; it is to be left then as well."""
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
        """Let others use it as well, so many at once: what it wanted is loaded."""
        with self._changed:
            self._rules.ready(self._number, at_once)
            self._changed.notify_all()

    def doubt(self) -> None:
        """Have the next one look whether the model is still there."""
        with self._changed:
            if self._want is not None:
                self._rules.doubt(self._want.engine)

    def leave(self) -> None:
        """Give the place to others. Leaving twice does nothing."""
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
