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

_NOTHING = 1e-18
"""Of a number's variance, the part below which it need not be worked out what a measurement tells:
most numbers soon have nothing to do with the one measured, and each step's time is precious."""


class Estimate:
    """values: what is believed. covariance: of their errors, row by row."""

    def __init__(self, values: Sequence[float], covariance: Matrix) -> None:
        self.values = list(values)
        # Only up to the diagonal: the rest is the same, and stays so to the last bit.
        self._rows = [row[: place + 1] for place, row in enumerate(covariance)]

    def deviation(self, index: int) -> float:
        """How far off a number may be: one standard deviation."""
        return sqrt(max(0.0, self._rows[index][index]))

    def loosen(self, index: int, variance: float) -> None:
        """A number may have changed since it was last measured."""
        self._rows[index][index] += variance

    def loosen_together(self, directions: Sequence[float], variance: float) -> None:
        """All may have changed for one reason: each by its direction times what is unknown.

        variance: of what is unknown.
        """
        for row, one in zip(self._rows, directions, strict=True):
            by = variance * one
            row[:] = [old + by * directions[column] for column, old in enumerate(row)]

    def unsure(self, index: int) -> float:
        """The variance of the first number plus that one; index 0: of the first alone."""
        rows = self._rows
        if index == 0:
            return rows[0][0]
        return rows[0][0] + 2 * rows[index][0] + rows[index][index]

    def observe(self, index: int, missed: float, noise: float) -> bool:
        """The first number plus that one was measured; index 0: the first alone.

        missed: the measurement less what was believed. noise: the variance of a measurement.
        Returns whether it was too far off to be believed; then it counts for a part.
        """
        rows, values = self._rows, self.values
        shares = [row[0] for row in rows]
        if index:
            for place, row in enumerate(rows):
                shares[place] += row[index] if place >= index else rows[index][place]
        total = (shares[0] + shares[index] if index else shares[0]) + noise
        most = _TAMED * sqrt(total)
        surprise = max(-most, min(most, missed))
        for place, share in enumerate(shares):
            row = rows[place]
            if share * share > _NOTHING * total * row[place]:
                gain = share / total
                values[place] += gain * surprise
                rows[place] = [old - gain * shares[column] for column, old in enumerate(row)]
        return surprise != missed
