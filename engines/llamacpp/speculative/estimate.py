"""Several numbers known only roughly, and what one more measurement says about all of them.

A Kalman filter. Beside the numbers it holds how unsure each is, and which errors they share: a
measurement of one then mends the others as far as they were wrong for the same reason. Source:
R. E. Kálmán, "A New Approach to Linear Filtering and Prediction Problems", 1960.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

Matrix = list[list[float]]

_TAMED = 3.0
"""Standard deviations beyond which a surprise counts no further: something else was the cause."""


class Estimate:
    """values: what is believed. covariance: of their errors, row by row."""

    def __init__(self, values: Sequence[float], covariance: Matrix) -> None:
        self.values = list(values)
        self._covariance = covariance

    def deviation(self, index: int) -> float:
        """How far off a number may be: one standard deviation."""
        return sqrt(max(0.0, self._covariance[index][index]))

    def loosen(self, index: int, variance: float) -> None:
        """A number may have changed since it was last measured."""
        self._covariance[index][index] += variance

    def loosen_together(self, directions: Sequence[float], variance: float) -> None:
        """All may be wrong for one reason: by so much each where the first is wrong by 1."""
        for row, one in zip(self._covariance, directions, strict=True):
            row[:] = [
                old + variance * one * other for old, other in zip(row, directions, strict=True)
            ]

    def unsure(self, index: int) -> float:
        """The variance of the first number plus that one; index 0: of the first alone."""
        rows = self._covariance
        if index == 0:
            return rows[0][0]
        return rows[0][0] + 2 * rows[0][index] + rows[index][index]

    def observe(self, index: int, missed: float, noise: float) -> bool:
        """The first number plus that one was measured; index 0: the first alone.

        missed: the measurement less what was believed. noise: the variance of a measurement.
        Returns whether it was too far off to be believed; then it counts for a part.
        """
        rows, values = self._covariance, self.values
        shares = list(rows[0])
        if index:
            shares = [a + b for a, b in zip(shares, rows[index], strict=True)]
        total = (shares[0] + shares[index] if index else shares[0]) + noise
        most = _TAMED * sqrt(total)
        surprise = max(-most, min(most, missed))
        for place, row in enumerate(rows):
            gain = shares[place] / total
            values[place] += gain * surprise
            rows[place] = [old - gain * share for old, share in zip(row, shares, strict=True)]
        return surprise != missed
