"""The estimated acceptance of a drafter, learnt from its drafts so far."""

from __future__ import annotations

import pytest

from engines.llamacpp.speculative.acceptance import Acceptance


def test_acceptance_is_learnt_by_position_and_by_confidence() -> None:
    known = Acceptance(4)
    for n in range(200):
        known.learn([6, 1], 2 if n % 4 == 0 else 1, 2)

    assert known.chances[0] > 0.9
    assert known.chances[1] == pytest.approx(0.25, abs=0.1)
    assert known.chances[3] < known.chances[2] < known.chances[0]
    assert known.chance(0, 6) > 0.9 > 0.5 > known.chance(1, 1)
    assert known.expected[2] == pytest.approx(1 + known.chances[0] * (1 + known.chances[1]))


def test_what_is_seen_of_one_position_tells_of_the_others() -> None:
    """The share of right drafts belongs to the text; the fall between positions to the drafter."""
    known, new = Acceptance(4), Acceptance(4)
    for n in range(300):
        known.learn([4, 4, 4], 3 if n % 2 else 2, 3)
    for one in (known, new):
        one.doubt()
        for _ in range(30):
            one.learn([4], 1, 1)

    assert known.chances[1] > 0.9
    assert known.chances[2] < 0.75 < new.chances[2]
    assert new.chances[3] > 0.8


def test_a_long_memory_stays_finite() -> None:
    known = Acceptance(2)
    for _ in range(3000):
        known.learn([5, 5], 2, 2, 3.0)

    assert 0.9 < known.chances[0] < 1
    assert known.observations < 36


def test_a_run_that_cannot_be_explained_replaces_what_was_believed() -> None:
    known = Acceptance(2)
    for n in range(100):
        known.learn([4], int(n % 10 < 3), 1)
    for _ in range(7):
        known.learn([4], 1, 1)

    assert known.chances[0] > 0.75
