"""Drafts that are compared with the text instead of being checked."""

from __future__ import annotations

from engines.llamacpp.speculative.acceptance import Acceptance
from engines.llamacpp.speculative.depth import DepthPolicy, Shadow, longest
from engines.types import MAX_DEPTH, MtpKind
from tests.engines.llamacpp.speculative.simulated_text import COMPUTERS, make_text, write

DRAFTER: tuple[MtpKind, ...] = ("drafter",)
Q8 = COMPUTERS["Q8_0, 0.3 B"]


def test_a_shadow_of_several_drafts_is_compared_with_the_tokens_of_later_steps() -> None:
    """So the gain of deep drafts is known before one was checked."""
    text = make_text(40, 1.0, fall=1.0, swing=0.0, telling=False)
    policy = DepthPolicy(Q8.costs(), MAX_DEPTH, DRAFTER)
    outcome = write(text, Q8, policy, "drafter")
    first = next(at for at, depth in enumerate(outcome.depths) if depth)
    shadows = [n for n in outcome.drafted[:first] if n]

    assert shadows[0] == 1
    assert max(shadows) >= 2
    assert sum(shadows) <= first
    assert outcome.depths[first] >= 3


def test_one_that_fails_later_counts_up_to_there() -> None:
    shadow, known = Shadow(), Acceptance(3)
    shadow.take([4, 4, 4])

    assert shadow.compare(known, 1, 1)
    assert (shadow.hit, shadow.follows) == (True, True)
    shadow.take([])
    assert shadow.compare(known, 0, 1)
    assert (shadow.hit, shadow.follows) == (False, False)
    assert not shadow.compare(known, 1, 1)
    assert known._judged[0] > 0 == known._right[1]
    assert known._judged[1] > 0 == known._judged[2]


def test_it_is_no_longer_than_drafts_could_pay_and_the_credit_lasts() -> None:
    costs = Q8.costs(noise=0)

    assert longest(costs, MAX_DEPTH, credit=2.0) == MAX_DEPTH
    assert longest(costs, 3, credit=2.0) == 3
    assert longest(costs, MAX_DEPTH, credit=2.5 * costs.draft) == 2
    assert longest(COMPUTERS["cannot win"].costs(), MAX_DEPTH, credit=2.0) == 1
