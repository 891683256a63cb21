"""Tests that the oracle guesses at the chosen rate, at every position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from engines.llamacpp.context import Context
from engines.llamacpp.mtp import More
from engines.types import MtpKind
from tests.support.oracle import Dictated, Oracle

TEXT = [index * 7 % 101 for index in range(90)]
WORTHLESS = 999


class Worker:
    """A drafter whose guesses are worthless, and which notes its calls."""

    kind: MtpKind = "drafter"
    at_once = False

    def __init__(self) -> None:
        self.calls: list[object] = []

    def propose(self, token: int, position: int, more: More) -> list[int]:
        self.calls.append((token, position))
        guesses = [WORTHLESS]
        while more(WORTHLESS, 3):
            guesses.append(WORTHLESS)
        return guesses

    def prepare(self) -> None: ...

    def join(self, held: Sequence[int]) -> None: ...

    def observe(self, tokens: Sequence[int], start: int) -> None:
        self.calls.append((list(tokens), start))

    def roll_back(self, length: int) -> None:
        self.calls.append(length)

    def save(self) -> bytearray | None:
        return bytearray(b"state")

    def restore(self, saved: bytearray | None) -> None:
        self.calls.append(saved)


def draft(oracle: Oracle, position: int, depth: int) -> list[int]:
    asked: list[int] = []

    def more(token: int, sure: int) -> bool:
        assert sure == 3
        asked.append(token)
        return len(asked) < depth

    guesses = oracle.propose(TEXT[position], position, more)
    assert guesses == asked
    return guesses


def test_guesses_are_the_tokens_after_the_given_one() -> None:
    assert draft(Oracle(Worker(), TEXT, 1.0), 10, 4) == TEXT[11:15]


def test_past_the_known_text_the_real_drafter_guesses() -> None:
    assert draft(Oracle(Worker(), TEXT, 1.0), 88, 3) == [TEXT[89], WORTHLESS, WORTHLESS]


@pytest.mark.parametrize("right", [0.0, 0.5, 0.8])
def test_as_many_guesses_are_right_as_was_asked_for(right: float) -> None:
    hits = []
    for seed in range(25):
        oracle = Oracle(Worker(), TEXT, right, seed)
        guesses = [draft(oracle, position, 1)[0] for position in range(80)]
        hits += [guesses[at] == TEXT[at + 1] for at in range(80)]
        assert WORTHLESS not in guesses
    # Four standard deviations of the share of 2,000 draws.
    assert sum(hits) / len(hits) == pytest.approx(right, abs=4 * (0.25 / 2000) ** 0.5)


def test_the_same_seed_gives_the_same_guesses() -> None:
    def run(seed: int) -> list[int]:
        return draft(Oracle(Worker(), TEXT, 0.5, seed), 0, 60)

    assert run(1) == run(1) != run(2)


def test_what_can_be_guessed_does_not_depend_on_how_many_are_drafted() -> None:
    oracle = Oracle(Worker(), TEXT, 0.5)
    singly = [draft(oracle, position, 1)[0] for position in range(60)]
    assert draft(oracle, 0, 60) == singly


class Drawing:
    """A sampler that always draws the same token, and counts its draws."""

    count = 0

    def draw(self, context: object, row: int = -1) -> int:
        self.count += 1
        return WORTHLESS

    def take(self, token: int) -> None: ...

    def guide(self, *, on: bool) -> None: ...

    def close(self) -> None: ...


def test_what_is_dictated_is_drawn_for_and_given_out() -> None:
    drawing = Drawing()
    dictated = Dictated(drawing, TEXT[:3])
    context = cast(Context, None)
    assert [dictated.draw(context) for _ in range(4)] == [*TEXT[:3], WORTHLESS]
    assert drawing.count == 4


def test_the_real_drafter_does_all_the_work() -> None:
    worker = Worker()
    oracle = Oracle(worker, TEXT, 1.0)
    oracle.observe([1, 2], 5)
    draft(oracle, 7, 2)
    oracle.roll_back(6)
    oracle.restore(oracle.save())
    assert worker.calls == [([1, 2], 5), (TEXT[7], 7), 6, bytearray(b"state")]
