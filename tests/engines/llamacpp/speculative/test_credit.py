"""The credit of an answer, which limits how much drafting may lose."""

from __future__ import annotations

import pytest

from engines.llamacpp.speculative.depth import Credit, DepthPolicy
from engines.types import MAX_DEPTH, MtpKind
from tests.engines.llamacpp.speculative.simulated_text import Computer, make_text, write

DRAFTER: tuple[MtpKind, ...] = ("drafter",)
DEAR = Computer((1, 1.45, 2.0, 2.02, 2.65, 3.2, 3.75, 4.3, 4.8), 0.1, measured=tuple(range(9)))
"""Measured: Q4_K, 0.3 B, two cores. If three drafts in four are right, depth 3 gains the most."""


def test_tokens_give_a_little_and_only_so_much() -> None:
    credit = Credit()
    before = credit.balance
    credit.pay(1, 1.0)
    assert credit.balance == pytest.approx(before + 0.01)
    for _ in range(500):
        credit.pay(1, 1.0)
    assert credit.balance == pytest.approx(2.0)


def test_what_is_won_adds_up_further_and_what_is_lost_is_gone() -> None:
    credit = Credit()
    for _ in range(20):
        credit.pay(4, 2.0)
    assert credit.balance == pytest.approx(12.0)
    credit.pay(1, 5.0)
    assert credit.balance == pytest.approx(8.0)


def test_in_debt_only_what_pays_on_a_poor_day_is_open_and_at_last_must_pay_more() -> None:
    credit = Credit()
    assert credit.stake == credit.balance
    credit.pay(1, 2.5)
    assert credit.balance < 0
    assert credit.stake == 0.0
    credit.pay(1, 2.5)
    assert credit.left < 0
    assert credit.stake < 0


def test_with_little_credit_the_depth_is_the_one_that_depends_least_on_luck() -> None:
    policy = DepthPolicy(DEAR.costs(noise=0.0), MAX_DEPTH, DRAFTER)
    known = make_text(1024, 0.75, fall=1.0, swing=0.0, telling=False, seed=0)
    assert max(write(known, DEAR, policy, "drafter", noise=0.0).depths) == 3

    policy.new_answer()
    lucky = make_text(32, 1.0, fall=1.0, swing=0.0, telling=False, seed=1)
    depths = write(lucky, DEAR, policy, "drafter", noise=0.0).depths

    assert depths[:4] == [1, 1, 1, 1]
    assert 3 in depths
