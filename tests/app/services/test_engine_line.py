"""Who may use which engine when: the rules one by one, and over many schedules made at random."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from app.services.engines.queue import EngineQueue, QueueRequest, Wait
from engines.types import EngineName

ROOMS: dict[EngineName, str] = {"llamacpp": "memory", "vllm": "memory", "remote": "remote"}
AT_ONCE: dict[EngineName, int] = {"llamacpp": 1, "vllm": 3, "remote": 2}


def want(engine: EngineName, key: str = "m", *, alone: bool = False) -> QueueRequest:
    return QueueRequest(engine, key, f"{key} in {engine}", alone)


def asked(line: EngineQueue, what: QueueRequest) -> int:
    number = line.join()
    line.want(number, what)
    return number


def begun(line: EngineQueue, engine: EngineName, key: str = "m") -> int:
    """One that has loaded what it wants, and lets others beside it."""
    number = asked(line, want(engine, key))
    assert line.admitted(number)
    assert line.is_alone(number)
    line.ready(number, AT_ONCE[engine])
    return number


def test_as_many_as_the_engine_can_are_beside_each_other() -> None:
    line = EngineQueue(ROOMS)
    first = begun(line, "vllm")
    second, third, fourth = (asked(line, want("vllm")) for _ in range(3))
    assert line.admitted(second)
    assert line.admitted(third)
    assert not line.is_alone(second)
    assert line.why(fourth) == Wait("full", "m in vllm", 3)
    line.leave(first)
    assert line.admitted(fourth)


def test_nobody_uses_a_model_while_it_is_being_loaded() -> None:
    line = EngineQueue(ROOMS)
    first, second = (asked(line, want("vllm")) for _ in range(2))
    assert line.is_alone(first)
    assert line.why(second) == Wait("loading", "m in vllm")
    line.ready(first, 3)
    assert line.admitted(second)


def test_a_server_is_beside_what_lies_here() -> None:
    line = EngineQueue(ROOMS)
    begun(line, "llamacpp")
    assert line.admitted(asked(line, want("remote")))


@pytest.mark.parametrize("other", [want("vllm"), want("llamacpp", "n")])
def test_another_load_waits_until_the_answers_have_ended(other: QueueRequest) -> None:
    line = EngineQueue(ROOMS)
    first = begun(line, "llamacpp")
    waiting = asked(line, other)
    assert line.why(waiting) == Wait("model", "m in llamacpp")
    line.leave(first)
    assert line.admitted(waiting)
    assert line.is_alone(waiting)


def test_what_waits_for_a_load_is_not_overtaken() -> None:
    line = EngineQueue(ROOMS)
    first = begun(line, "vllm")
    other = asked(line, want("vllm", "n"))
    late = asked(line, want("vllm"))
    assert line.why(late) == Wait("line", count=1)
    line.leave(first)
    assert line.admitted(other)
    assert not line.admitted(late)


def test_one_that_stops_waiting_is_in_nobodys_way() -> None:
    line = EngineQueue(ROOMS)
    begun(line, "vllm")
    other, late = asked(line, want("vllm", "n")), asked(line, want("vllm"))
    line.leave(other)
    line.leave(other)
    assert line.admitted(late)


def test_the_order_is_that_of_joining_whoever_is_first_to_say_what_it_wants() -> None:
    line = EngineQueue(ROOMS)
    first, second = line.join(), line.join()
    line.want(second, want("llamacpp", "n"))
    assert not line.admitted(second)
    line.want(first, want("llamacpp"))
    assert line.admitted(first)
    assert not line.admitted(second)


def test_one_that_leaves_without_a_word_lets_the_others_go_on() -> None:
    line = EngineQueue(ROOMS)
    silent, other = line.join(), asked(line, want("remote"))
    assert line.why(other) == Wait("line", count=1)
    line.leave(silent)
    assert line.admitted(other)


def test_alone_is_alone_to_its_end() -> None:
    line = EngineQueue(ROOMS)
    first = begun(line, "vllm")
    measured = asked(line, want("vllm", alone=True))
    line.leave(first)
    line.ready(measured, 3)
    late = asked(line, want("vllm"))
    assert line.why(late) == Wait("alone", "m in vllm")
    line.leave(measured)
    assert line.admitted(late)


def test_after_a_crash_one_looks_alone_and_the_others_come_after_it() -> None:
    line = EngineQueue(ROOMS)
    first, second = begun(line, "vllm"), asked(line, want("vllm"))
    line.doubt("vllm")
    line.leave(first)
    third, fourth = asked(line, want("vllm")), asked(line, want("vllm"))
    assert not line.admitted(third), "the second has not ended yet"
    line.doubt("vllm")
    line.leave(second)
    assert line.is_alone(third)
    assert not line.admitted(fourth)
    line.ready(third, 3)
    assert line.admitted(fourth)


@dataclass
class Play:
    """A schedule made at random, with what has to hold after each of its steps."""

    dice: random.Random
    line: EngineQueue = field(default_factory=lambda: EngineQueue(ROOMS))
    silent: list[int] = field(default_factory=list)
    waiting: dict[int, QueueRequest] = field(default_factory=dict)
    using: dict[int, QueueRequest] = field(default_factory=dict)
    loading: set[int] = field(default_factory=set)
    held: dict[EngineName, object] = field(default_factory=dict)
    came: dict[str, list[int]] = field(default_factory=dict)

    def step(self) -> None:
        does = [self.join, self.join, self.join, self.say, self.load, self.load, self.end]
        self.dice.choice([*does, self.give_up, self.crash])()
        self.look()

    def join(self) -> None:
        self.silent.append(self.line.join())
        if self.dice.random() < 0.8:
            self.say()

    def say(self) -> None:
        if self.silent:
            number = self.silent.pop(self.dice.randrange(len(self.silent)))
            engine = self.dice.choice(list(ROOMS))
            wanted = want(engine, self.dice.choice("mn"), alone=self.dice.random() < 0.1)
            self.waiting[number] = wanted
            self.line.want(number, wanted)

    def load(self) -> None:
        """It came through, or it failed and left nothing loaded."""
        if self.loading:
            number = self.dice.choice(sorted(self.loading))
            self.loading.discard(number)
            wanted = self.using[number]
            for engine in [it for it in self.held if ROOMS[it] == ROOMS[wanted.engine]]:
                del self.held[engine]
                self.line.emptied(engine)
            if self.dice.random() < 0.8:
                self.held[wanted.engine] = wanted.key
                self.line.ready(number, AT_ONCE[wanted.engine])
            else:
                self.leave(number)

    def end(self) -> None:
        answering = sorted(set(self.using) - self.loading)
        if answering:
            self.leave(self.dice.choice(answering))

    def give_up(self) -> None:
        """One that waits is stopped, or ends before it has said anything."""
        numbers = [*self.silent, *self.waiting]
        if numbers:
            number = self.dice.choice(numbers)
            self.silent = [it for it in self.silent if it != number]
            self.waiting.pop(number, None)
            self.line.leave(number)

    def crash(self) -> None:
        answering = sorted(set(self.using) - self.loading)
        if answering:
            number = self.dice.choice(answering)
            self.line.doubt(self.using[number].engine)
            self.leave(number)

    def leave(self, number: int) -> None:
        del self.using[number]
        self.line.leave(number)

    def look(self) -> None:
        for number in sorted(it for it in self.waiting if self.line.admitted(it)):
            wanted = self.using[number] = self.waiting.pop(number)
            self.came.setdefault(ROOMS[wanted.engine], []).append(number)
            if self.line.is_alone(number):
                self.loading.add(number)
        for room in set(ROOMS.values()):
            self.look_into(room)

    def look_into(self, room: str) -> None:
        there = {number: it for number, it in self.using.items() if ROOMS[it.engine] == room}
        outside = [number for number, it in self.waiting.items() if ROOMS[it.engine] == room]
        came = self.came.get(room, [])
        assert came == sorted(came), "somebody has overtaken"
        if self.loading & set(there) or any(it.alone for it in there.values()):
            assert len(there) == 1, "something is at work beside a load"
        elif there:
            assert len({(it.engine, it.key) for it in there.values()}) == 1
            (engine, key) = next((it.engine, it.key) for it in there.values())
            assert self.held[engine] == key, "nothing was loaded for it"
            assert len(there) <= AT_ONCE[engine]
        if not there and outside:
            assert min([*self.silent, min(outside)]) < min(outside), "it waits for nobody"
        for number in outside:
            assert self.line.why(number) is not None, "it is not said why it waits"

    def finish(self) -> None:
        """With nobody new, all that are there come to their turn."""
        for number in self.silent:
            self.line.leave(number)
        self.silent = []
        self.look()
        while self.using or self.waiting:
            before = (len(self.using), len(self.waiting), len(self.loading))
            self.load()
            self.end()
            self.look()
            assert (len(self.using), len(self.waiting), len(self.loading)) != before


@pytest.mark.parametrize("seed", range(8))
def test_the_rules_hold_over_schedules_made_at_random(seed: int) -> None:
    dice = random.Random(seed)
    side_by_side = 0
    for _ in range(60):
        play = Play(dice)
        for _ in range(80):
            play.step()
            side_by_side = max(side_by_side, len(play.using))
        play.finish()
    assert side_by_side > AT_ONCE["vllm"], "rooms were never in use at the same time"
