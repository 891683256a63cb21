"""The cost curve: made from a few measurements, corrected by noisy ones, kept on disk."""

from __future__ import annotations

import json
import random
from math import exp, isfinite

import pytest

from engines.llamacpp.speculative.costs import Costs

PLAIN = 0.05


def noisy(seconds: float, dice: random.Random, noise: float = 0.05) -> float:
    return seconds * exp(dice.gauss(0, noise))


def test_unmeasured_depths_lie_on_lines_between_and_beyond_the_measured() -> None:
    costs = Costs({0: 1.0, 1: 1.5, 3: 2.2, 7: 4.2}, 0.1)

    assert [costs.ratio(k) for k in (0, 1, 3, 7)] == pytest.approx([1, 1.5, 2.2, 4.2])
    assert costs.ratio(2) == pytest.approx(1.85)
    assert costs.ratio(5) == pytest.approx(3.2)
    assert costs.ratio(8) == pytest.approx(4.7)
    assert costs.draft_seconds() == pytest.approx(0.1)


def test_beyond_a_flat_end_the_curve_rises_as_it_did_in_all() -> None:
    costs = Costs({0: 1.0, 1: 1.6, 3: 1.6})

    assert costs.ratio(8) == pytest.approx(1.6 + 5 * 0.2)


def test_with_the_plain_step_alone_nothing_is_promised() -> None:
    assert Costs({0: 0.02}, 0.001).best_possible() == pytest.approx(1.0)


def test_best_possible_is_the_gain_when_every_draft_holds() -> None:
    costs = Costs({0: 2.0, 1: 2.4, 2: 2.6, 3: 4.0}, 0.2, limit=3)

    assert costs.best_possible() == pytest.approx(3 * 2.0 / (2.6 + 2 * 0.2))


def test_what_a_step_with_drafts_takes_beside_is_in_its_price_and_is_kept() -> None:
    costs = Costs({0: 2.0, 1: 2.4}, 0.2, limit=1)
    costs.observe_overhead(0.4)
    costs.observe_step(0, 2.0)

    assert costs.prices == pytest.approx([1.2, 1.5], rel=0.01)
    assert costs.best_possible() == pytest.approx(2 / 1.5, rel=0.01)
    kept = Costs.from_json(json.loads(json.dumps(costs.as_json())))
    assert kept is not None
    assert kept.prices == pytest.approx(costs.prices)


@pytest.mark.parametrize(
    ("steps", "draft"),
    [({1: 1.0}, 0.0), ({0: 0.0}, 0.0), ({0: float("nan")}, 0.0), ({0: 1.0, 1: -1.0}, 0.0),
     ({0: 1.0}, -0.1), ({0: 1.0}, float("inf"))],
)  # fmt: skip
def test_times_that_cannot_be_are_refused(steps: dict[int, float], draft: float) -> None:
    with pytest.raises(ValueError, match=r"cost curve|draft"):
        Costs(steps, draft)


def test_the_factor_follows_a_computer_that_slows_down_and_leaves_the_ratios() -> None:
    dice = random.Random(1)
    costs = Costs({0: PLAIN, 1: PLAIN * 1.5, 3: PLAIN * 2.2})
    for _ in range(100):
        costs.observe_step(3, noisy(PLAIN * 2.2, dice))
    for _ in range(40):
        costs.observe_step(3, noisy(3 * PLAIN * 2.2, dice))

    assert costs.step_seconds(3) == pytest.approx(3 * PLAIN * 2.2, rel=0.1)
    assert costs.step_seconds(0) == pytest.approx(3 * PLAIN, rel=0.1)


def test_one_stall_moves_hardly_anything() -> None:
    dice = random.Random(2)
    costs = Costs({0: PLAIN, 1: PLAIN * 1.5})
    for _ in range(100):
        costs.observe_step(dice.choice((0, 1)), noisy(PLAIN, dice, 0.03))
    before = [costs.step_seconds(k) for k in range(3)]
    costs.observe_step(1, 50 * PLAIN)
    costs.observe_draft(1, 50 * PLAIN)

    assert [costs.step_seconds(k) for k in range(3)] == pytest.approx(before, rel=0.05)


def test_a_wrong_ratio_is_found_out_from_rare_plain_steps() -> None:
    """With three drafts and one plain step in 128, the factor alone would hide the error."""
    dice = random.Random(3)
    costs = Costs({0: PLAIN, 1: PLAIN * 1.5, 3: PLAIN * 1.8})
    for step in range(128 * 25):
        k = 0 if step % 128 == 0 else 3
        costs.observe_step(k, noisy(PLAIN * (1.0, 1.5, 2.0, 2.4)[k], dice))

    assert costs.ratio(3) == pytest.approx(2.4, rel=0.06)
    assert costs.step_seconds(0) == pytest.approx(PLAIN, rel=0.06)
    assert costs.ratio(1) == pytest.approx(1.5, rel=0.15)


@pytest.mark.parametrize("wrong", [1.4, 0.7])
def test_a_plain_step_that_the_calibration_had_wrong_is_put_right_for_all_depths(
    wrong: float,
) -> None:
    """Other programs used the memory while the plain step was timed, so all ratios are wrong."""
    dice = random.Random(6)
    true = {0: 1.0, 1: 1.5, 3: 2.2, 7: 3.8}
    costs = Costs({k: PLAIN * (wrong if k == 0 else true[k]) for k in true}, PLAIN * 0.1)
    for k in (0, 0, 0, 3, 3, 0, 3, 0, 0, 1, 3, 0, 3, 7, 0):
        costs.observe_step(k, noisy(PLAIN * true[k], dice, 0.02))
        costs.observe_draft(k, k * PLAIN * 0.1)

    assert costs.step_seconds(0) == pytest.approx(PLAIN, rel=0.05)
    assert [costs.ratio(k) for k in (1, 3, 7)] == pytest.approx([1.5, 2.2, 3.8], rel=0.1)


def test_depths_that_alternate_find_their_ratios_in_a_growing_context() -> None:
    dice = random.Random(4)
    true = (1.0, 1.2, 1.31, 1.67, 1.7)
    costs = Costs({0: PLAIN, 3: PLAIN * 1.67}, limit=4)
    for step in range(2000):
        k = dice.randrange(5)
        costs.observe_step(k, noisy(PLAIN * true[k] * (1 + step / 2000), dice))

    assert costs.ratios == pytest.approx(true, rel=0.06)
    assert costs.step_seconds(0) == pytest.approx(2 * PLAIN, rel=0.1)


def test_a_depth_seen_for_the_first_time_moves_those_never_seen() -> None:
    costs = Costs({0: 1.0, 1: 1.5, 3: 2.2})
    before = costs.ratio(8)
    for _ in range(4):
        costs.observe_step(0, 1.0)
        costs.observe_step(5, 4.0)

    assert costs.ratio(5) > 3.2
    assert costs.ratio(8) > before + 0.5
    assert costs.ratio(2) == pytest.approx(1.85, rel=0.05)


def test_what_a_change_of_shape_costs_is_no_part_of_the_ratios() -> None:
    ratios, switch = {0: 1.0, 1: 1.3, 3: 1.8}, 0.2
    knows = Costs({k: PLAIN * r for k, r in ratios.items()}, switch=PLAIN * switch)
    does_not = Costs({k: PLAIN * r for k, r in ratios.items()})
    for costs in (knows, does_not):
        for k in (0, 1, 3, 1) * 50:
            costs.observe_step(k, PLAIN * (ratios[k] + switch))

    assert knows.ratio(1) == pytest.approx(1.3, rel=0.01)
    assert knows.ratio(3) == pytest.approx(1.8, rel=0.01)
    assert does_not.ratio(3) != pytest.approx(1.8, rel=0.03)


def test_the_drafter_is_timed_too() -> None:
    costs = Costs({0: PLAIN, 1: PLAIN}, PLAIN * 0.1)
    for _ in range(200):
        costs.observe_draft(3, 3 * PLAIN * 0.2)

    assert costs.draft_seconds() == pytest.approx(0.2 * PLAIN, rel=0.02)


def test_times_of_zero_say_nothing() -> None:
    costs = Costs({0: PLAIN, 1: PLAIN * 1.5}, PLAIN * 0.1)
    before = costs.as_json()
    costs.observe_step(1, 0.0)
    costs.observe_draft(0, 0.0)
    costs.observe_draft(2, 0.0)

    assert costs.as_json() == before


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), -1.0])
def test_times_that_no_clock_gives_say_nothing(seconds: float) -> None:
    costs = Costs({0: PLAIN, 1: PLAIN * 1.5}, PLAIN * 0.1)
    before = costs.as_json()

    assert not costs.observe_step(1, seconds)
    costs.observe_draft(1, seconds)
    assert costs.as_json() == before


@pytest.mark.parametrize("limit", [0, 1, 2, 8])
@pytest.mark.parametrize("seed", range(8))
def test_whatever_the_clock_says_the_curve_stays_one_of_numbers(limit: int, seed: int) -> None:
    dice = random.Random(100 * limit + seed)

    def any_time() -> float:
        return dice.choice((1e-9, 1e9, PLAIN, 10 ** dice.uniform(-9, 9)))

    measured = {k: any_time() for k in range(limit + 1) if k == 0 or dice.random() < 0.4}
    costs = Costs(measured, dice.choice((0.0, any_time())), limit, dice.choice((0.0, any_time())))
    for _ in range(200):
        k, seconds = dice.randrange(limit + 1), any_time()
        for _ in range(dice.choice((1, 1, 2, 4))):
            costs.observe_step(k, seconds)
        costs.observe_draft(dice.choice((1, 8)), any_time())

        assert all(isfinite(n) and n > 0 for n in (costs.factor, costs.draft, *costs.ratios))

    data = costs.as_json()
    kept = Costs.from_json(json.loads(json.dumps(data)))
    assert kept is None or kept.as_json() == data
    for _ in range(100):
        costs.observe_step(0, PLAIN)
    assert costs.step_seconds(0) == pytest.approx(PLAIN, rel=0.05)


@pytest.mark.parametrize("busy", [0.5, 1.03, 2.0])
def test_with_the_plain_step_alone_nothing_is_promised_by_slower_ones_either(busy: float) -> None:
    costs = Costs({0: PLAIN})
    for _ in range(6):
        costs.observe_step(0, PLAIN * busy)

    assert costs.best_possible() == pytest.approx(1.0)


@pytest.mark.parametrize("slower", [1.5, 3.0])
def test_a_computer_that_slows_down_right_after_the_calibration_keeps_its_ratios(
    slower: float,
) -> None:
    true = {0: 1.0, 1: 1.5, 3: 2.2}
    costs = Costs({k: PLAIN * ratio for k, ratio in true.items()})
    for k in (3, 0) * 6:
        costs.observe_step(k, PLAIN * slower * true[k])

    assert costs.step_seconds(0) == pytest.approx(PLAIN * slower, rel=0.05)
    assert [costs.ratio(k) for k in (1, 3)] == pytest.approx([1.5, 2.2], rel=0.05)


@pytest.mark.parametrize("stall", [1.7, 3.0, 50.0])
def test_plain_steps_longer_than_deeper_ones_were_held_up(stall: float) -> None:
    """Otherwise more tokens would take less time, and all drafts would seem to pay."""
    costs = Costs({0: PLAIN, 1: PLAIN * 1.5, 3: PLAIN * 2.2}, PLAIN * 0.1)
    for _ in range(8):
        costs.observe_step(0, PLAIN * stall)

    assert not costs.corrected
    assert [costs.ratio(k) for k in (1, 3)] == pytest.approx([1.5, 2.2], rel=0.1)


def test_a_curve_that_was_put_right_waits_to_be_confirmed() -> None:
    costs = Costs({0: PLAIN * 1.4, 1: PLAIN * 1.5, 3: PLAIN * 2.2})
    corrected = []
    for _ in range(8):
        costs.observe_step(0, PLAIN)
        corrected.append(costs.corrected)

    assert corrected[:2] == [False, True]
    assert not corrected[-1]
    assert costs.step_seconds(0) == pytest.approx(PLAIN, rel=0.05)


@pytest.mark.parametrize("slow", [1.0, 1.4])
def test_only_a_deeper_step_tells_whether_all_of_a_calibration_was_held_up(slow: float) -> None:
    """`slow` is for the deeper steps of the calibration; the plain ones were 1.4 times too slow."""
    costs = Costs({0: PLAIN * 1.4, 1: PLAIN * slow * 1.5, 3: PLAIN * slow * 2.2})
    untried = []
    for k in (0, 0, 0, 3):
        costs.observe_step(k, PLAIN * (2.2 if k else 1.0))
        untried.append(costs.untried)

    assert untried == [False, True, True, False]
    assert [costs.ratio(k) for k in (1, 3)] == pytest.approx([1.5, 2.2], rel=0.06)


def test_a_quiet_computer_that_becomes_a_noisy_one_is_not_surprising_for_ever() -> None:
    dice = random.Random(12)
    costs = Costs({0: PLAIN, 1: PLAIN * 1.5})
    for step in range(800):
        k = int(step % 10 == 0)
        costs.observe_step(k, noisy(PLAIN * (1.0, 1.5)[k], dice, 0.003))
    surprises = [costs.observe_step(0, noisy(PLAIN, dice, 0.1)) for _ in range(400)]

    assert sum(surprises[:20]) > 5
    assert sum(surprises[200:]) < 40


def test_a_drafter_that_comes_later_is_not_judged_by_its_first_draft() -> None:
    costs = Costs({0: PLAIN, 1: PLAIN * 1.5})
    costs.observe_draft(1, PLAIN * 0.3)
    assert costs.draft_seconds() == pytest.approx(PLAIN * 0.3, rel=0.01)
    for _ in range(15):
        costs.observe_draft(1, PLAIN * 0.1)

    assert costs.draft_seconds() == pytest.approx(PLAIN * 0.1, rel=0.15)


def test_kept_and_read_back() -> None:
    costs = Costs({0: PLAIN, 1: PLAIN * 1.5, 3: PLAIN * 2.0}, PLAIN * 0.07, switch=PLAIN * 0.1)
    for k in (1, 0, 2, 3, 0):
        costs.observe_step(k, PLAIN * 1.7)

    kept = Costs.from_json(json.loads(json.dumps(costs.as_json())))

    assert kept is not None
    assert kept.as_json() == costs.as_json()


@pytest.mark.parametrize("now", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("wrong", [0.7, 1.0, 1.4])
def test_a_kept_curve_is_held_against_the_computer_of_another_day(now: float, wrong: float) -> None:
    """`now` is the slowdown since then, `wrong` the error of the stored plain step."""
    true = {0: 1.0, 1: 1.5, 3: 2.2}
    made = Costs({k: PLAIN * (wrong if k == 0 else true[k]) for k in true})
    costs = Costs.from_json(json.loads(json.dumps(made.as_json())))
    assert costs is not None
    for k in (0, 0, 0, 0, 3, 0, 3, 3, 0, 0, 0, 3):
        costs.observe_step(k, PLAIN * now * true[k])

    assert costs.step_seconds(0) == pytest.approx(PLAIN * now, rel=0.1)
    assert costs.ratio(3) == pytest.approx(2.2, rel=0.1)


@pytest.mark.parametrize(
    "damage",
    [
        {"format": 0}, {"factor": None}, {"factor": -1.0}, {"factor": "0.05"}, {"draft": -0.5},
        {"switch": -0.1}, {"switch": None},
        {"draft": float("nan")}, {"ratios": []}, {"ratios": [1.0]}, {"ratios": "1, 2"},
        {"ratios": [2.0] * 9}, {"ratios": [1.0] + [0.0] * 8}, {"ratios": [1.0] + [True] * 8},
        {"unsure": None}, {"unsure": [-1.0] * 9}, {"unsure": [float("inf")] * 9},
        {"unsure": [0.1] * 8}, {"factor": 10**400}, {"ratios": [1.0] + [10**400] * 8},
    ],
)  # fmt: skip
def test_a_damaged_curve_is_measured_again(damage: dict[str, object]) -> None:
    whole = Costs({0: PLAIN, 1: PLAIN * 1.5}).as_json()

    assert Costs.from_json(whole) is not None
    assert Costs.from_json(whole | damage) is None


@pytest.mark.parametrize("data", [None, [], "costs", 7, {}])
def test_what_is_no_curve_at_all_is_measured_again(data: object) -> None:
    assert Costs.from_json(data) is None
