"""Prompt lookup proposes the tokens after an earlier match, even after the text was cut back."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from engines.llamacpp.speculative.lookup import PromptLookup
from engines.types import MAX_DEPTH


def test_text_goes_on_as_it_did_before() -> None:
    lookup = PromptLookup()
    lookup.observe([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2], 0)
    proposed, sure = lookup.propose(3)
    assert proposed == [4, 5, 6, 7, 8, 9, 10, 11]
    assert sure == 0


def test_a_longer_match_is_surer_and_is_preferred() -> None:
    lookup = PromptLookup()
    once, again = [9, 1, 2, 3, 4, 50, 51, 52], [8, 2, 3, 4, 60, 61, 62]
    lookup.observe([*once, *again, 9, 1, 2, 3], 0)
    proposed, sure = lookup.propose(4)
    assert proposed[:3] == [50, 51, 52]
    assert sure > 0


def test_a_circle_goes_round() -> None:
    lookup = PromptLookup()
    lookup.observe([1, 2, 3, 1, 2, 3, 1, 2], 0)
    assert lookup.propose(3)[0] == [1, 2, 3, 1, 2, 3, 1, 2]


def test_nothing_is_proposed_where_nothing_was_seen() -> None:
    lookup = PromptLookup()
    assert lookup.propose(1) == ([], 0)
    lookup.observe([1, 2], 0)
    assert lookup.propose(3) == ([], 0)
    lookup.observe([3, 4, 5], 2)
    assert lookup.propose(6) == ([], 0)


def naive(held: Sequence[int], token: int) -> bool:
    """Return whether the last three tokens occurred together before."""
    text = [*held, token]
    return any(text[at : at + 3] == text[-3:] for at in range(len(text) - 3))


@pytest.mark.parametrize("seed", range(20))
def test_it_knows_exactly_what_is_held_after_any_cuts(seed: int) -> None:
    """A proposal continues a real match, and there is one whenever there is a match."""
    chance = random.Random(seed)
    lookup, held = PromptLookup(), list[int]()
    for _ in range(200):
        if held and chance.random() < 0.3:
            cut = chance.randrange(len(held) + 1)
            lookup.roll_back(cut)
            del held[cut:]
        more = [chance.randrange(4) for _ in range(chance.randrange(1, 6))]
        start = chance.randrange(len(held) + 1) if chance.random() < 0.2 else len(held)
        lookup.observe(more, start)
        held[start:] = more
        assert lookup.tokens == held
        token = chance.randrange(4)
        proposed, sure = lookup.propose(token)
        assert bool(proposed) == (len(held) >= 3 and naive(held, token))
        if proposed:
            text = [*held, token]
            assert len(proposed) == MAX_DEPTH
            assert 0 <= sure <= 7
            ends = [at + 3 for at in range(len(text) - 3) if text[at : at + 3] == text[-3:]]
            follows = [(text[end:] * MAX_DEPTH)[:MAX_DEPTH] for end in ends]
            assert proposed in follows
