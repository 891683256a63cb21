"""The rules for taking turns at the engines, one by one and in many random schedules."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from app.runtime.services.queue import QueueRequest, QueueRules
from app.runtime.values.wait import Wait
from engines.types import EngineName

ROOMS: dict[EngineName, str] = {"llamacpp": "memory", "vllm": "memory", "remote": "remote"}
AT_ONCE: dict[EngineName, int] = {"llamacpp": 1, "vllm": 3, "remote": 2}


def want(engine: EngineName, key: str = "m", *, exclusive: bool = False) -> QueueRequest:
    return QueueRequest(engine, key, f"{key} in {engine}", exclusive)


def asked(rules: QueueRules, what: QueueRequest) -> int:
    number = rules.join()
    rules.request(number, what)
    return number


def begun(rules: QueueRules, engine: EngineName, key: str = "m") -> int:
    """Add a request that has loaded its model, admit others beside it, and return its number."""
    number = asked(rules, want(engine, key))
    assert rules.admitted(number)
    assert rules.is_alone(number)
    rules.ready(number, AT_ONCE[engine])
    return number


def test_as_many_as_the_engine_can_are_beside_each_other() -> None:
    rules = QueueRules(ROOMS)
    first = begun(rules, "vllm")
    second, third, fourth = (asked(rules, want("vllm")) for _ in range(3))
    assert rules.admitted(second)
    assert rules.admitted(third)
    assert not rules.is_alone(second)
    assert rules.why(fourth) == Wait("full", "m in vllm", 3)
    rules.leave(first)
    assert rules.admitted(fourth)


def a_guest(rules: QueueRules, what: QueueRequest) -> int:
    number = rules.join(guest=True)
    rules.request(number, what)
    return number


def test_a_guest_comes_behind_who_asks_here() -> None:
    rules = QueueRules(ROOMS)
    first = begun(rules, "llamacpp")
    guest = a_guest(rules, want("llamacpp"))
    own = asked(rules, want("llamacpp"))
    assert rules.why(own) == Wait("full", "m in llamacpp", 1)
    assert rules.why(guest) == Wait("queue", count=1)
    rules.leave(first)
    assert rules.admitted(own)
    assert not rules.admitted(guest)
    rules.leave(own)
    assert rules.admitted(guest)


def test_guests_leave_one_of_several_places_free() -> None:
    rules = QueueRules(ROOMS)
    guest = a_guest(rules, want("vllm"))
    rules.ready(guest, 3)
    second, third = (a_guest(rules, want("vllm")) for _ in range(2))
    assert rules.admitted(second)
    assert rules.why(third) == Wait("full", "m in vllm", 2)
    own = asked(rules, want("vllm"))
    assert rules.admitted(own)
    rules.leave(own)
    assert not rules.admitted(third)
    rules.leave(guest)
    assert rules.admitted(third)


def test_a_guest_that_wants_the_model_that_is_loaded_waits_for_who_wants_another() -> None:
    rules = QueueRules(ROOMS)
    first = begun(rules, "vllm")
    other = asked(rules, want("vllm", "n"))
    guest = a_guest(rules, want("vllm"))
    assert not rules.admitted(guest)
    rules.leave(first)
    assert rules.admitted(other)
    assert not rules.admitted(guest)


def test_nobody_uses_a_model_while_it_is_being_loaded() -> None:
    rules = QueueRules(ROOMS)
    first, second = (asked(rules, want("vllm")) for _ in range(2))
    assert rules.is_alone(first)
    assert rules.why(second) == Wait("loading", "m in vllm")
    rules.ready(first, 3)
    assert rules.admitted(second)


def test_a_server_is_beside_what_lies_here() -> None:
    rules = QueueRules(ROOMS)
    begun(rules, "llamacpp")
    assert rules.admitted(asked(rules, want("remote")))


@pytest.mark.parametrize("other", [want("vllm"), want("llamacpp", "n")])
def test_another_load_waits_until_the_answers_have_ended(other: QueueRequest) -> None:
    rules = QueueRules(ROOMS)
    first = begun(rules, "llamacpp")
    waiting = asked(rules, other)
    assert rules.why(waiting) == Wait("model", "m in llamacpp")
    rules.leave(first)
    assert rules.admitted(waiting)
    assert rules.is_alone(waiting)


def test_what_waits_for_a_load_is_not_overtaken() -> None:
    rules = QueueRules(ROOMS)
    first = begun(rules, "vllm")
    other = asked(rules, want("vllm", "n"))
    late = asked(rules, want("vllm"))
    assert rules.why(late) == Wait("queue", count=1)
    rules.leave(first)
    assert rules.admitted(other)
    assert not rules.admitted(late)


def test_one_that_stops_waiting_is_in_nobodys_way() -> None:
    rules = QueueRules(ROOMS)
    begun(rules, "vllm")
    other, late = asked(rules, want("vllm", "n")), asked(rules, want("vllm"))
    rules.leave(other)
    rules.leave(other)
    assert rules.admitted(late)


def test_the_order_is_that_of_joining_whoever_is_first_to_say_what_it_wants() -> None:
    rules = QueueRules(ROOMS)
    first, second = rules.join(), rules.join()
    rules.request(second, want("llamacpp", "n"))
    assert not rules.admitted(second)
    rules.request(first, want("llamacpp"))
    assert rules.admitted(first)
    assert not rules.admitted(second)


def test_one_that_leaves_without_a_word_lets_the_others_go_on() -> None:
    rules = QueueRules(ROOMS)
    silent, other = rules.join(), asked(rules, want("remote"))
    assert rules.why(other) == Wait("queue", count=1)
    rules.leave(silent)
    assert rules.admitted(other)


def test_alone_is_alone_to_its_end() -> None:
    rules = QueueRules(ROOMS)
    first = begun(rules, "vllm")
    measured = asked(rules, want("vllm", exclusive=True))
    rules.leave(first)
    rules.ready(measured, 3)
    late = asked(rules, want("vllm"))
    assert rules.why(late) == Wait("alone", "m in vllm")
    rules.leave(measured)
    assert rules.admitted(late)


def test_after_a_crash_one_looks_alone_and_the_others_come_after_it() -> None:
    rules = QueueRules(ROOMS)
    first, second = begun(rules, "vllm"), asked(rules, want("vllm"))
    rules.doubt("vllm")
    rules.leave(first)
    third, fourth = asked(rules, want("vllm")), asked(rules, want("vllm"))
    assert not rules.admitted(third), "the second has not ended yet"
    rules.doubt("vllm")
    rules.leave(second)
    assert rules.is_alone(third)
    assert not rules.admitted(fourth)
    rules.ready(third, 3)
    assert rules.admitted(fourth)


@dataclass
class Play:
    """A random schedule that checks the rules after each step."""

    dice: random.Random
    rules: QueueRules = field(default_factory=lambda: QueueRules(ROOMS))
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
        self.silent.append(self.rules.join())
        if self.dice.random() < 0.8:
            self.say()

    def say(self) -> None:
        if self.silent:
            number = self.silent.pop(self.dice.randrange(len(self.silent)))
            engine = self.dice.choice(list(ROOMS))
            wanted = want(engine, self.dice.choice("mn"), exclusive=self.dice.random() < 0.1)
            self.waiting[number] = wanted
            self.rules.request(number, wanted)

    def load(self) -> None:
        """End a load, with the model loaded or with nothing loaded after a failure."""
        if self.loading:
            number = self.dice.choice(sorted(self.loading))
            self.loading.discard(number)
            wanted = self.using[number]
            for engine in [it for it in self.held if ROOMS[it] == ROOMS[wanted.engine]]:
                del self.held[engine]
                self.rules.emptied(engine)
            if self.dice.random() < 0.8:
                self.held[wanted.engine] = wanted.key
                self.rules.ready(number, AT_ONCE[wanted.engine])
            else:
                self.leave(number)

    def end(self) -> None:
        answering = sorted(set(self.using) - self.loading)
        if answering:
            self.leave(self.dice.choice(answering))

    def give_up(self) -> None:
        """Remove a waiting request, or one that has not said yet what it needs."""
        numbers = [*self.silent, *self.waiting]
        if numbers:
            number = self.dice.choice(numbers)
            self.silent = [it for it in self.silent if it != number]
            self.waiting.pop(number, None)
            self.rules.leave(number)

    def crash(self) -> None:
        answering = sorted(set(self.using) - self.loading)
        if answering:
            number = self.dice.choice(answering)
            self.rules.doubt(self.using[number].engine)
            self.leave(number)

    def leave(self, number: int) -> None:
        del self.using[number]
        self.rules.leave(number)

    def look(self) -> None:
        for number in sorted(it for it in self.waiting if self.rules.admitted(it)):
            wanted = self.using[number] = self.waiting.pop(number)
            self.came.setdefault(ROOMS[wanted.engine], []).append(number)
            if self.rules.is_alone(number):
                self.loading.add(number)
        for room in set(ROOMS.values()):
            self.look_into(room)

    def look_into(self, room: str) -> None:
        there = {number: it for number, it in self.using.items() if ROOMS[it.engine] == room}
        outside = [number for number, it in self.waiting.items() if ROOMS[it.engine] == room]
        came = self.came.get(room, [])
        assert came == sorted(came), "somebody has overtaken"
        if self.loading & set(there) or any(it.exclusive for it in there.values()):
            assert len(there) == 1, "something is at work beside a load"
        elif there:
            assert len({(it.engine, it.key) for it in there.values()}) == 1
            (engine, key) = next((it.engine, it.key) for it in there.values())
            assert self.held[engine] == key, "nothing was loaded for it"
            assert len(there) <= AT_ONCE[engine]
        if not there and outside:
            assert min([*self.silent, min(outside)]) < min(outside), "it waits for nobody"
        for number in outside:
            assert self.rules.why(number) is not None, "it is not said why it waits"

    def finish(self) -> None:
        """Check that every request gets its turn when no new one comes."""
        for number in self.silent:
            self.rules.leave(number)
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
