"""Estimates of related numbers: a measurement of one also corrects the others."""

from __future__ import annotations

import random
from math import sqrt

import pytest

from engines.llamacpp.speculative.costs import Estimate, Matrix

NOISE = 0.01**2


def apart(*deviations: float) -> Estimate:
    """Return estimates of 0 that share no errors."""
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


def by_the_book(values: list[float], covariance: Matrix, index: int, missed: float) -> Matrix:
    """Apply the textbook filter: K = P h / (h' P h + r), x += K y, P -= K h' P."""
    size = range(len(values))
    seen = [float(place in (0, index)) for place in size]
    shares = [sum(covariance[row][column] * seen[column] for column in size) for row in size]
    total = sum(share * one for share, one in zip(shares, seen, strict=True)) + NOISE
    tamed = max(-3 * sqrt(total), min(3 * sqrt(total), missed))
    for place in size:
        values[place] += shares[place] / total * tamed
    return [
        [covariance[row][column] - shares[row] * shares[column] / total for column in size]
        for row in size
    ]


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_filter_of_the_books(seed: int) -> None:
    dice = random.Random(seed)
    size = range(dice.randrange(1, 11))
    causes = [[dice.gauss(0, 0.2) for _ in range(12)] for _ in size]
    covariance = [[sum(map(float.__mul__, one, other)) for other in causes] for one in causes]
    values = [dice.gauss(0, 1) for _ in size]
    estimate = Estimate(values, covariance)
    directions = [dice.choice((-1.0, 0.0, 0.5, 1.0)) for _ in size]

    for step in range(500):
        index = dice.choice(size)
        if step % 3 == 0:
            covariance[index][index] += 0.01**2
            estimate.loosen(index, 0.01**2)
        if step % 50 == 0:
            for row in size:
                for column in size:
                    covariance[row][column] += 0.09 * directions[row] * directions[column]
            estimate.loosen_together(directions, 0.09)
        missed = dice.gauss(0, 0.1) * dice.choice((1, 1, 1, 20))
        covariance = by_the_book(values, covariance, index, missed)
        estimate.observe(index, missed, NOISE)

        assert estimate.values == pytest.approx(values, abs=1e-5)
        variances = [covariance[place][place] for place in size]
        assert [estimate.deviation(k) ** 2 for k in size] == pytest.approx(variances, rel=1e-5)


def test_variances_stay_positive_whatever_is_measured() -> None:
    dice = random.Random(9)
    shared = 0.03**2
    estimate = Estimate(
        [0.0] * 6,
        [
            [shared if row * column == 0 else shared + 0.01**2 * (row == column)
             for column in range(6)]
            for row in range(6)
        ],
    )  # fmt: skip
    for step in range(20_000):
        index = dice.randrange(6)
        estimate.loosen(0, dice.choice((1e-4, 1e-4, 40.0**2)))
        if step % 100 == 0:
            estimate.loosen_together([1.0] + [-1.0] * 5, 40.0**2)
        estimate.observe(index, dice.choice((0.0, 1e-9, -40.0, 40.0)), NOISE)

        assert estimate.unsure(index) > 0
        assert estimate.deviation(index) > 0
