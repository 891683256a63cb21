"""Who may use which engine, and what the others wait for: pure.

Engines stand in rooms: those whose models lie in this computer's memory share one, any other has
its own. A room works on one model at a time, and gives as many answers with it side by side as its
engine can. Within a room all come in the order in which they joined, so that nobody starves; rooms
know nothing of each other. Who finds a room empty has it alone at first, to get the model ready,
so that nothing is loaded or unloaded under an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from engines.types import EngineName


@dataclass(frozen=True)
class QueueRequest:
    """What somebody wants of an engine. key: what has to be ready in it; two are told apart by it.

    model: what that is called, for others to read. alone: nobody else may use the room meanwhile.
    """

    engine: EngineName
    key: object
    model: str = ""
    alone: bool = False


@dataclass(frozen=True)
class Wait:
    """Why something has to wait.

    line: `count` others are before it. full: `model` gives `count` answers at a time. model: it
    needs the place of `model`, which is answering. loading: of `model`. alone: `model` is measured.
    """

    reason: Literal["line", "full", "model", "loading", "alone"]
    model: str = ""
    count: int = 0


@dataclass(frozen=True)
class _Use:
    want: QueueRequest
    alone: bool


@dataclass(frozen=True)
class _Held:
    key: object
    at_once: int


class EngineQueue:
    """Each user has a number: `join`, `want`, wait until `admitted`, `ready`, `leave`.

    rooms: the room of each engine, by any name. Whoever has joined and not said yet what it wants
    holds up all that joined later, so it says so at once.
    """

    def __init__(self, rooms: Mapping[EngineName, str]) -> None:
        self._rooms = rooms
        self._numbers = count(1)
        self._waiting: dict[int, QueueRequest | None] = {}
        self._using: dict[int, _Use] = {}
        self._held: dict[EngineName, _Held] = {}

    def join(self) -> int:
        number = next(self._numbers)
        self._waiting[number] = None
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
        """What it wants is loaded, for so many at once."""
        use = self._using[number]
        self._held[use.want.engine] = _Held(use.want.key, at_once)
        self._using[number] = replace(use, alone=use.want.alone)
        self._admit()

    def leave(self, number: int) -> None:
        """It wants nothing more. Leaving twice does nothing."""
        self._waiting.pop(number, None)
        self._using.pop(number, None)
        self._admit()

    def emptied(self, engine: EngineName) -> None:
        """Nothing is loaded there any more."""
        self._held.pop(engine, None)

    def doubt(self, engine: EngineName) -> None:
        """What was loaded there may be gone: the next has the room alone, to look."""
        held = self._held.get(engine)
        if held is not None:
            self._held[engine] = replace(held, at_once=0)

    def in_use(self, engine: EngineName) -> bool:
        return any(use.want.engine == engine for use in self._using.values())

    def why(self, number: int) -> Wait | None:
        """Why it has to wait; None if it does not, or has not said yet what it wants."""
        want = self._waiting.get(number)
        if want is None:
            return None
        ahead = sum(
            other < number and (its is None or self._room(its) == self._room(want))
            for other, its in self._waiting.items()
        )
        return Wait("line", count=ahead) if ahead else self._in_the_way(want)

    def _admit(self) -> None:
        full: set[str] = set()
        for number, want in list(self._waiting.items()):
            if want is None:
                return  # it may need any room
            room = self._room(want)
            if room in full or self._in_the_way(want) is not None:
                full.add(room)
                continue
            del self._waiting[number]
            is_first = not self._users(room)
            self._using[number] = _Use(want, alone=want.alone or is_first)

    def _in_the_way(self, want: QueueRequest) -> Wait | None:
        users = self._users(self._room(want))
        if not users:
            return None
        model = users[0].want.model
        if users[0].alone:
            return Wait("alone" if users[0].want.alone else "loading", model)
        held = self._held.get(want.engine)
        if want.alone or held is None or held.key != want.key or not held.at_once:
            return Wait("model", model)
        return Wait("full", model, held.at_once) if len(users) >= held.at_once else None

    def _users(self, room: str) -> list[_Use]:
        return [use for use in self._using.values() if self._room(use.want) == room]

    def _room(self, want: QueueRequest) -> str:
        return self._rooms[want.engine]
