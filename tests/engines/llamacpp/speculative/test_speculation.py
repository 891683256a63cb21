"""Between policy and drafter: drafts are compared with the tokens of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from engines.llamacpp.mtp import More
from engines.llamacpp.speculative.costs import SharedCosts
from engines.llamacpp.speculative.drafting import Drafting
from engines.llamacpp.speculative.speculation import Speculation
from engines.types import MAX_DEPTH, MtpKind
from tests.engines.llamacpp.speculative.simulated_text import COMPUTERS

PLAIN_S = 0.05
ALL_NEW = 1000
"""A token that is new in the text, so that prompt lookup proposes nothing."""


class Counting:
    """A drafter that guesses the following numbers; it guesses `wrong` wrongly."""

    kind: MtpKind = "drafter"
    at_once = False

    def __init__(self, wrong: int) -> None:
        self.wrong = wrong
        self.asked: list[int] = []

    def propose(self, token: int, position: int, more: More) -> list[int]:
        self.asked.append(position)
        guesses: list[int] = []
        while True:
            token += 1
            guesses.append(0 if token == self.wrong else token)
            if not more(guesses[-1], 7):
                return guesses

    def join(self, held: Sequence[int]) -> None: ...

    def observe(self, tokens: Sequence[int], start: int) -> None: ...

    def roll_back(self, length: int) -> None: ...


class Hands:
    """A stand-in that opens this drafter."""

    restored = False

    def __init__(self, drafter: Counting | None) -> None:
        self.drafter = drafter

    def expose(self) -> None: ...

    def hide(self) -> None: ...


def test_a_step_that_evaluates_tokens_again_is_timed_as_what_it_is() -> None:
    """It drafts nothing, but it takes as long as a step that checks drafts."""
    computer = COMPUTERS["Q8_0, 0.3 B"]
    costs = computer.costs(noise=0)
    drafting = cast("Drafting", Hands(None))
    speculation = Speculation(
        drafting, SharedCosts(costs), MAX_DEPTH, lambda _: False, "", repeats=True
    )
    text = [5, 6, 7, 8, 9, 10, 11, 12, 13] * 2
    speculation.begin("on", 8, text)
    drafts = speculation.propose(5, len(text), MAX_DEPTH)
    assert drafts == [6, 7, 8, 9, 10, 11, 12, 13]
    speculation.learn(drafts, [6, 7, 8, 9, 99], 0.0, PLAIN_S * computer.ratios[8])
    speculation.observe([5, 6, 7, 8, 9], len(text))
    plain = costs.factor
    assert not speculation.propose(99, len(text) + 5, MAX_DEPTH - 5, again=5)
    speculation.learn((), [ALL_NEW], 0.0, PLAIN_S * computer.ratios[5])
    assert costs.factor < 1.1 * plain


def test_a_shadow_is_followed_over_the_steps_behind_it() -> None:
    """Each of its drafts is judged once, by the token at its position."""
    drafter = Counting(wrong=ALL_NEW + 3)
    costs = COMPUTERS["Q8_0, 0.3 B"].costs(noise=0)
    drafting = cast("Drafting", Hands(drafter))
    speculation = Speculation(drafting, SharedCosts(costs), MAX_DEPTH, lambda _: False, "")
    speculation.begin("auto", None, ())
    known = speculation._policy._native
    seen: list[tuple[int, bool]] = []
    learn = known.learn

    def noted(
        buckets: Sequence[int], right: int, judged: int, age: float = 1.0, start: int = 0
    ) -> None:
        seen.extend((start + at, at < right) for at in range(judged))
        learn(buckets, right, judged, age, start)

    known.learn = noted  # type: ignore[method-assign]
    for token in range(ALL_NEW, ALL_NEW + 16):
        drafts = speculation.propose(token, token - ALL_NEW, MAX_DEPTH)
        assert not drafts, "on so short a text nothing is worth its check yet"
        speculation.learn(drafts, [token + 1], 0.0, PLAIN_S)

    assert seen[:3] == [(0, True), (0, True), (1, False)], "one, then two over two steps"
    assert len(drafter.asked) < len(seen)
