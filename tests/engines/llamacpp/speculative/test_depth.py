"""The depth policy on simulated texts: never slower than Off, near the best fixed depth.

All times come from tables of costs (`simulated_text`), so every figure is the same in each run.
"""

from __future__ import annotations

from math import inf
from statistics import mean

import pytest

from engines.llamacpp.speculative.costs import Costs
from engines.llamacpp.speculative.depth import DepthPolicy, DraftPlan
from engines.types import MAX_DEPTH, MtpKind, MtpMode
from tests.engines.llamacpp.speculative.simulated_text import (
    COMPUTERS,
    Computer,
    Outcome,
    Text,
    best_fixed,
    make_text,
    write,
)
from tests.support.suite import sampled

BOTH: tuple[MtpKind, ...] = ("lookup", "drafter")
EMBEDDED: tuple[MtpKind, ...] = ("embedded",)
DRAFTER: tuple[MtpKind, ...] = ("drafter",)
LOOKUP: tuple[MtpKind, ...] = ("lookup",)
MODES: tuple[tuple[MtpMode, int | None], ...] = (("auto", None), ("on", None), ("on", 6))
PAYING = [name for name in COMPUTERS if name != "cannot win"]
WINS_LITTLE = {"Q4_0 E2B, 1 thread", "Q8_0, 0.3 B"}
"""At most 1.2 times as fast; finding that out safely takes more than a stretch of the text."""

GPU, Q8 = COMPUTERS["GPU"], COMPUTERS["Q8_0, 2 threads"]


def auto(text: Text, name: str, sources: tuple[MtpKind, ...] = BOTH) -> Outcome:
    policy = DepthPolicy(COMPUTERS[name].costs(), MAX_DEPTH, sources)
    return write(text, COMPUTERS[name], policy, "drafter")


def plain_step(policy: DepthPolicy, seconds: float = 0.05) -> None:
    assert policy.verify() == 0
    policy.learn(1, 0, 0, seconds)


# Bar 1: never below 0.98 of Off


@pytest.mark.parametrize("name", COMPUTERS)
@pytest.mark.parametrize("acceptance", [0.0, 0.3, 0.55, 0.65, 0.75])
def test_the_first_128_tokens_of_an_unknown_text_lose_at_most_2_percent(
    name: str, acceptance: float
) -> None:
    gains = [
        auto(make_text(128, acceptance, telling=telling, seed=seed), name).gain
        for seed in (1, 2)
        for telling in (False, True)
    ]

    assert min(gains) >= 0.98


@pytest.mark.parametrize("name", COMPUTERS)
def test_an_answer_stakes_little_of_what_the_last_one_won(name: str) -> None:
    """Prose after code loses some steps at first; the pair of answers never does."""
    policy = DepthPolicy(COMPUTERS[name].costs(), MAX_DEPTH, BOTH)
    for answer in range(8):
        text = make_text(128, 0.95 if answer % 2 == 0 else 0.1, seed=answer)
        policy.new_answer()

        assert write(text, COMPUTERS[name], policy, "drafter").gain >= 0.965


# Bar 2: at least 0.95 of the best fixed depth on a stationary text


@pytest.mark.parametrize("name", PAYING)
@pytest.mark.parametrize("acceptance", sampled([0.2, 0.5, 0.65, 0.75, 0.85, 0.95], [0.5, 0.85]))
def test_a_stationary_text_is_as_fast_as_with_the_best_fixed_depth(
    name: str, acceptance: float
) -> None:
    for telling in (False, True):
        parts = []
        for seed in (11, 12, 13):
            text = make_text(2000, acceptance, telling=telling, seed=seed)
            gain = auto(text, name).gain
            assert gain >= 0.98
            parts.append(gain / best_fixed(text, COMPUTERS[name])[0])

        assert mean(parts) >= 0.95


@pytest.mark.parametrize("name", COMPUTERS)
@pytest.mark.parametrize("acceptance", [0.2, 0.5, 0.75, 0.95])
def test_a_memory_that_goes_back_as_a_whole_costs_what_is_evaluated_again(
    name: str, acceptance: float, exhaustive: bool
) -> None:
    computer = COMPUTERS[name]
    for seed in (1, 2, 3) if exhaustive else (1,):
        policy = DepthPolicy(computer.costs(), MAX_DEPTH, BOTH, repeats=True)
        text = make_text(2000, acceptance, seed=seed)
        gain = write(text, computer, policy, "drafter", repeats=True).gain

        assert gain >= 0.98
        near = 0.9 if name in WINS_LITTLE else 0.95
        assert gain >= near * best_fixed(text, computer, repeats=True)[0]


def test_drafts_that_pay_where_tokens_can_be_taken_back_may_not_where_they_cannot() -> None:
    """One guess in five is wrong, and a step with a wrong one takes as long as 1.7 plain ones."""
    computer = Computer((1, 1.7, 2.6, 3.5, 4.4, 5.3, 6.2, 7.1, 8.0), 0.02)
    text = make_text(2000, 0.8, fall=1.0, swing=0.0, telling=False)
    depths = {}
    for repeats in (False, True):
        policy = DepthPolicy(computer.costs(), MAX_DEPTH, DRAFTER, repeats=repeats)
        depths[repeats] = mean(write(text, computer, policy, "drafter", repeats=repeats).depths)

    assert depths[False] > 0.5
    assert depths[True] < 0.1


def test_confidence_that_tells_right_from_wrong_beats_every_fixed_depth() -> None:
    text = make_text(2000, 0.6, telling=True, seed=3)

    for name in ("Q8_0, 2 threads", "F16", "GPU"):
        assert auto(text, name).gain > best_fixed(text, COMPUTERS[name])[0]


def test_drafts_that_always_hold_are_drafted_to_the_end() -> None:
    outcome = auto(make_text(2000, 1.0, fall=1.0), "GPU")

    assert outcome.gain > 0.95 * 9 / (1.3 + 8 * 0.05)


# Bar 3: a change of the text


def segments(length: int, seed: int) -> list[Text]:
    return [make_text(length, a, seed=seed + n) for n, a in enumerate((0.95, 0.3) * 3)]


@pytest.mark.parametrize("name", [name for name in PAYING if name not in WINS_LITTLE])
def test_the_depth_follows_a_changing_text_within_about_32_tokens(name: str) -> None:
    """From then on, the gain of the chosen depths is near the best, in the median case."""
    computer, length = COMPUTERS[name], 250
    waits: dict[float, list[int]] = {0.95: [], 0.3: []}
    for seed in (0, 10, 20, 30):
        parts = segments(length, seed)
        outcome = auto(sum(parts[1:], parts[0]), name)
        best = sum(length / best_fixed(part, computer)[0] for part in parts)
        assert outcome.time <= best / 0.9
        for n in range(1, len(parts)):
            level = 0.3 if n % 2 else 0.95
            worth = [
                computer.fixed([level * 0.97**j for j in range(MAX_DEPTH)], k)
                for k in range(MAX_DEPTH + 1)
            ]
            depths = outcome.depths[n * length : (n + 1) * length]
            windows = [sum(worth[k] for k in depths[at : at + 16]) / 16 for at in range(length)]
            near = (at for at in range(length - 16) if windows[at] >= 0.92 * max(worth))
            waits[level].append(next(near, length))

    for waited in waits.values():
        assert sorted(waited)[len(waited) // 2] <= 40


def test_watching_costs_about_1_percent_while_no_depth_pays() -> None:
    for name in ("Q8_0, 2 threads", "F16", "tiny"):
        outcome = auto(make_text(2000, 0.1, seed=2), name)

        assert 0.985 <= outcome.gain < 1
        assert any(outcome.drafted[1000:])


@pytest.mark.parametrize("times", [1.6, 2.0, 3.0])
@pytest.mark.parametrize("name", ["Q8_0, 2 threads", "Q4_0, 0.3 B", "F16", "GPU"])
def test_a_calibration_while_all_was_slow_does_not_end_drafting(name: str, times: float) -> None:
    """Only the plain steps look wrong then; one deeper step shows that all of them were."""
    computer = COMPUTERS[name]
    slow = {k: computer.plain_s * times * computer.ratios[k] for k in computer.measured}
    costs = Costs(slow, computer.plain_s * times * computer.draft)
    text = make_text(1000, 0.95, seed=21)
    outcome = write(text, computer, DepthPolicy(costs, MAX_DEPTH, DRAFTER), "drafter")

    assert outcome.gain >= 0.93 * best_fixed(text, computer)[0]
    assert costs.ratio(3) == pytest.approx(computer.ratios[3], rel=0.15)


# Nothing to win


def test_where_even_right_drafts_cannot_win_nothing_is_drafted() -> None:
    outcome = auto(make_text(500, 0.99), "cannot win")

    assert not any(outcome.drafted)
    assert outcome.gain == pytest.approx(1)
    assert DepthPolicy(COMPUTERS["cannot win"].costs(), MAX_DEPTH, BOTH).hopeless


def test_there_lookup_is_not_drafted_from_either_but_watched() -> None:
    text = make_text(800, 0.99, copying=0.9, seed=5)
    outcome = auto(text, "cannot win")

    assert outcome.gain >= 0.98


# Prompt lookup


@pytest.mark.parametrize("name", PAYING)
def test_copying_is_found_and_costs_nothing_elsewhere(name: str) -> None:
    texts = [make_text(1500, 0.5, copying=0.7, seed=seed) for seed in (7, 8, 9)]

    def gain(*sources: MtpKind) -> float:
        return mean(auto(text, name, sources).gain for text in texts)

    assert gain("lookup") > 1.1
    assert gain(*BOTH) >= 0.97 * max(gain("lookup"), gain("drafter"))


def test_proposals_that_are_seldom_right_lose_nothing() -> None:
    text = make_text(1000, 0.2, copying=0.001, seed=8)

    for name in COMPUTERS:
        assert auto(text, name, ("lookup",)).gain >= 0.98


# Modes


def steps_of(policy: DepthPolicy, text: Text, name: str = "Q8_0, 2 threads") -> set[int]:
    return set(write(text, COMPUTERS[name], policy, "drafter").depths[: len(text) - MAX_DEPTH])


@pytest.mark.parametrize("depth", [1, 3, 8])
def test_a_fixed_depth_is_kept_whatever_comes(depth: int) -> None:
    policy = DepthPolicy(Q8.costs(), MAX_DEPTH, BOTH)
    policy.new_answer("on", depth)

    assert steps_of(policy, make_text(600, 0.1)) == {depth}


def test_a_fixed_depth_without_a_drafter_takes_what_lookup_proposes() -> None:
    policy = DepthPolicy(Q8.costs(), MAX_DEPTH, LOOKUP)
    policy.new_answer("auto", 4)

    assert policy.plan(8, [3] * 6) == DraftPlan("lookup", 4)
    assert policy.verify() == 4
    policy.learn(3, 0, 2, 0.1)
    assert policy.plan(8, [3, 3]) == DraftPlan("lookup", 2)
    assert policy.plan(8, None) == DraftPlan("none", 0)


def test_on_always_drafts_but_for_a_rare_plain_step() -> None:
    policy = DepthPolicy(Q8.costs(), MAX_DEPTH, BOTH)
    policy.new_answer("on")
    depths = write(make_text(1500, 0.3), Q8, policy, "drafter").depths[:-MAX_DEPTH]

    assert 1 <= depths.count(0) <= len(depths) / 100
    assert depths.count(1) > len(depths) / 2


def test_a_plain_step_is_measured_now_and_then_while_drafting_always() -> None:
    outcome = auto(make_text(3000, 0.99), "GPU")

    assert 0 in outcome.depths[500:-MAX_DEPTH]
    assert outcome.depths.count(0) < 3000 / 100


def test_a_stall_that_passed_for_a_wrong_calibration_is_soon_found_out() -> None:
    """Plain steps that are held up early make all drafts look cheap."""
    policy = DepthPolicy(Q8.costs(noise=0), MAX_DEPTH, EMBEDDED)
    for _ in range(4):
        policy.plan(0)
        plain_step(policy, 1.4 * Q8.plain_s)
    outcome = write(make_text(192, 0.3, telling=False), Q8, policy, "embedded")

    assert outcome.gain > 0.9


def test_the_room_is_never_exceeded() -> None:
    policy = DepthPolicy(GPU.costs(), MAX_DEPTH, BOTH)
    for mode, depth in MODES:
        policy.new_answer(mode, depth)
        for room in (0, 1, 2):
            plan = policy.plan(room, [7] * 8)
            assert plan.drafts <= room
            if room == 0:
                assert plan == DraftPlan("none", 0)
                plain_step(policy)


def test_the_same_text_gives_the_same_steps() -> None:
    text = make_text(500, 0.7, copying=0.3)

    assert auto(text, "F16") == auto(text, "F16")


# Learning and reporting


def test_a_shadow_is_compared_and_not_checked() -> None:
    """On an unknown text with expensive checks, the first draft is only watched."""
    policy = DepthPolicy(Q8.costs(), MAX_DEPTH, EMBEDDED)

    assert policy.plan(8).source == "embedded"
    assert not policy.more(4), "one is enough, where it may as well be wrong"
    assert policy.verify() == 0
    policy.learn(1, 1, 0, 0.05, 0.005)
    assert policy.plan(8).source == "embedded"


def test_a_depth_whose_cost_was_never_measured_is_tried() -> None:
    """If c(4) is estimated too high, only a trial can show it."""
    computer = COMPUTERS["F16"]
    text = make_text(1500, 0.95, telling=False, seed=3)
    costs = Costs({k: computer.plain_s * computer.ratios[k] for k in (0, 1, 3)}, 0.0035)
    assert costs.ratio(4) > 1.1 * computer.ratios[4]
    outcome = write(text, computer, DepthPolicy(costs, MAX_DEPTH, DRAFTER), "drafter")

    assert outcome.depths.count(4) > 500
    assert costs.ratio(4) == pytest.approx(computer.ratios[4], rel=0.05)


def test_where_a_poor_acceptance_pays_the_first_draft_is_checked_at_once() -> None:
    policy = DepthPolicy(GPU.costs(), MAX_DEPTH, EMBEDDED)
    policy.plan(8)
    policy.more(4)

    assert policy.verify() >= 1


def test_what_a_change_of_shape_costs_is_weighed() -> None:
    dear = GPU.costs()
    dear.switch = 5.0
    policy = DepthPolicy(dear, MAX_DEPTH, DRAFTER)
    policy.plan(8)
    policy.more(4)

    assert policy.verify() == 0


def test_an_unsure_drafter_is_stopped_early() -> None:
    policy = DepthPolicy(Q8.costs(), MAX_DEPTH, DRAFTER)
    write(make_text(2000, 0.95, seed=4), Q8, policy, "drafter")
    policy.new_answer()

    assert policy.plan(8).drafts > 1
    assert not policy.more(0)
    policy.learn(1, 0, 0, 0.05, 0.005)
    policy.plan(8)
    assert policy.more(7)


def test_the_gain_and_its_bound_are_those_of_the_answer() -> None:
    policy = DepthPolicy(GPU.costs(noise=0), MAX_DEPTH, BOTH)
    assert policy.gain is None
    assert policy.bound is None
    outcome = write(make_text(3000, 0.9, seed=6), GPU, policy, "drafter", noise=0.02)

    assert policy.gain == pytest.approx(outcome.gain, rel=0.05)
    assert policy.bound == pytest.approx(outcome.gain, rel=0.05)
    assert policy.gain == pytest.approx(policy.bound, rel=0.05)
    assert 2 < policy.promise < inf
    assert policy.depth >= 3
    policy.new_answer()
    assert policy.gain is None
    assert 1.5 < policy.promise < inf


def test_without_any_drafter_there_are_plain_steps_only() -> None:
    policy = DepthPolicy(Costs({0: 0.05}), MAX_DEPTH, ())

    assert policy.plan(8, [7] * 8) == DraftPlan("none", 0)
    for _ in range(3):
        policy.plan(8)
        plain_step(policy)
    assert policy.gain == pytest.approx(1)
    assert policy.hopeless


def test_a_load_without_room_for_drafts_never_drafts() -> None:
    policy = DepthPolicy(GPU.costs(), 0, BOTH)

    assert policy.plan(8, [7] * 8) == DraftPlan("none", 0)
    plain_step(policy)


def test_on_takes_the_better_of_drafter_and_lookup() -> None:
    policy = DepthPolicy(Q8.costs(), MAX_DEPTH, BOTH)
    text = make_text(1000, 0.3, copying=0.8, seed=9)
    policy.new_answer("on")
    mixed = write(text, Q8, policy, "drafter").gain
    native = DepthPolicy(Q8.costs(), MAX_DEPTH, DRAFTER)
    native.new_answer("on")

    assert mixed > 1.2 * write(text, Q8, native, "drafter").gain


def test_no_gain_is_told_before_a_plain_step_was_timed_behind_another() -> None:
    policy = DepthPolicy(GPU.costs(noise=0), MAX_DEPTH, BOTH)
    policy.new_answer("on")
    plan = policy.plan(8)
    while policy.more(7):
        pass
    checked = policy.verify()
    policy.learn(checked + 1, checked, 0, GPU.plain_s * GPU.ratios[checked])

    assert plan.drafts > 0
    assert policy.bound is not None
    assert policy.gain is None


def test_what_drafting_takes_beside_the_step_makes_the_gain_smaller() -> None:
    """Everything that an answer without drafts saves counts: here as much as another plain step."""
    text = make_text(1000, 0.9, seed=6)
    free, dear = (DepthPolicy(GPU.costs(noise=0), MAX_DEPTH, DRAFTER) for _ in range(2))
    write(text, GPU, free, "drafter")
    write(text, GPU, dear, "drafter", beside=1.0)

    assert free.gain is not None
    assert dear.gain is not None
    assert dear.gain < 0.7 * free.gain


def test_where_the_steps_beside_drafts_eat_their_gain_auto_does_without() -> None:
    text = make_text(1000, 0.9, seed=6)
    outcome = write(text, GPU, DepthPolicy(GPU.costs(), MAX_DEPTH, DRAFTER), "drafter", beside=8.0)

    assert outcome.gain > 0.9
    assert outcome.depths[-200:].count(0) > 190


def test_a_model_whose_plain_step_takes_less_than_a_millisecond_is_hopeless() -> None:
    fast, slow = (Costs({0: s, 1: 1.1 * s, 3: 1.2 * s}, 0.0) for s in (0.0009, 0.0011))

    assert DepthPolicy(fast, MAX_DEPTH, BOTH).hopeless
    assert not DepthPolicy(slow, MAX_DEPTH, DRAFTER).hopeless


def test_steps_at_which_there_is_nothing_to_decide_count_as_plain_ones() -> None:
    policy = DepthPolicy(COMPUTERS["cannot win"].costs(), MAX_DEPTH, BOTH)
    for _ in range(50):
        policy.rest(0.05)

    assert policy.gain == pytest.approx(1.0, abs=0.01)
    assert policy.bound == pytest.approx(1.0)
    assert policy.depth == 0
