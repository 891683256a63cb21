"""Numbers that are known roughly: what a measurement of one says about the others."""

from __future__ import annotations

import pytest

from engines.llamacpp.speculative.estimate import Estimate

NOISE = 0.01**2


def apart(*deviations: float) -> Estimate:
    """Numbers of 0 that share no errors."""
    size = range(len(deviations))
    return Estimate(
        [0.0] * len(deviations),
        [[deviations[row] ** 2 if row == column else 0.0 for column in size] for row in size],
    )


def test_what_is_unsure_moves_and_what_is_known_stays() -> None:
    estimate = apart(0.001, 0.5)
    estimate.observe(1, 0.3, NOISE)

    assert estimate.values == pytest.approx([0.0, 0.3], abs=0.001)
    assert estimate.deviation(1) < 0.011


def test_what_is_as_unsure_takes_as_much() -> None:
    estimate = apart(0.2, 0.2, 0.2)
    estimate.observe(2, 0.3, NOISE)

    assert estimate.values == pytest.approx([0.15, 0.0, 0.15], abs=0.001)


def test_a_sum_says_nothing_of_its_parts_until_one_is_measured() -> None:
    estimate = apart(0.2, 0.2)
    estimate.observe(1, 0.3, NOISE)
    assert estimate.deviation(0) == pytest.approx(0.2 / 2**0.5, rel=0.01)
    estimate.observe(0, -0.15, NOISE)

    assert estimate.values == pytest.approx([0.0, 0.3], abs=0.002)


def test_what_is_wrong_for_the_same_reason_is_mended_with_it() -> None:
    shared = 0.2**2
    estimate = Estimate(
        [0.0, 0.0, 0.0], [[shared, -shared, -shared]] + 2 * [[-shared, shared, shared]]
    )
    estimate.observe(0, 0.3, NOISE)

    assert estimate.values == pytest.approx([0.3, -0.3, -0.3], abs=0.002)


def test_what_cannot_be_believed_counts_for_a_part_and_is_told() -> None:
    estimate = apart(0.01)

    assert not estimate.observe(0, 0.02, NOISE)
    assert estimate.observe(0, 4.0, NOISE)
    assert 0 < estimate.values[0] < 0.05


def test_what_may_have_changed_follows_again() -> None:
    estimate = apart(0.001)
    estimate.loosen(0, 0.5**2)
    estimate.observe(0, 0.3, NOISE)

    assert estimate.values[0] == pytest.approx(0.3, abs=0.001)
    assert estimate.unsure(0) == pytest.approx(NOISE, rel=0.01)
