"""The line about the state of MTP, in the words that a user reads."""

from __future__ import annotations

import pytest

from engines.llamacpp.speculative import mtp_status as truth
from engines.llamacpp.speculative.costs import Costs

CHEAP = Costs({0: 1.0, 1: 1.05, 3: 1.1, 7: 1.3}, 0.05)
DEAR = Costs({0: 1.0, 1: 2.1, 3: 4.2, 7: 8.4}, 0.3)


def test_what_runs_is_told_with_its_figures() -> None:
    assert truth.running("embedded", 2, 100, 71, 1.42, 1.5) == (
        "MTP on: 2 tokens ahead, 71 % accepted, 1.4x of at most 1.5x"
    )
    assert truth.running("embedded", 1, 0, 0, None, 1.0) == "MTP on: 1 token ahead"


def test_a_gain_above_its_bound_by_noise_is_not_called_impossible() -> None:
    assert truth.running("embedded", 2, 10, 10, 1.62, 1.5).endswith("1.6x of at most 1.6x")


def test_what_the_text_itself_drafts_is_not_called_mtp() -> None:
    line = truth.running("lookup", 2, 100, 71, 1.42, 1.5)
    assert line == "Copied text comes faster: 2 tokens ahead, 71 % accepted, 1.4x measured here"


def test_a_model_that_is_too_fast_to_gain_is_told_so() -> None:
    fast = Costs({0: 0.0005, 1: 0.0006}, 0.0)
    assert truth.cannot_win(fast) == truth.TOO_FAST
    assert truth.standing("drafter", fast, "") == truth.TOO_FAST


def test_what_cannot_win_is_told_with_the_cost() -> None:
    assert truth.cannot_win(CHEAP) is None
    assert truth.cannot_win(DEAR) == (
        "No gain on this computer: a step with one guess takes 2.4 times as long and "
        "writes at most 2 tokens."
    )


def test_the_break_even_is_where_the_best_depth_costs_what_it_brings() -> None:
    costs = Costs({0: 1.0, 1: 1.5}, 0.0, limit=1)
    assert truth.break_even(costs) == pytest.approx(0.5, abs=0.01)
    assert truth.break_even(CHEAP) < 0.2
    assert truth.no_gain(costs, 0.31) == (
        "Off for now: only 31 % of the latest guesses were right, and it helps from 50 %"
    )
    assert truth.no_gain(costs, 0.52) == "Off for now: no gain in this text"


def test_what_a_model_can_do_is_told_before_it_answers() -> None:
    assert truth.standing("lookup", CHEAP, "Nothing drafts.") == "Nothing drafts."
    assert truth.standing("drafter", DEAR, "").startswith("No gain on this computer: ")
    line = truth.standing("embedded", CHEAP, "")
    assert line.startswith("This model can answer faster: up to ")
