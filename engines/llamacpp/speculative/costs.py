"""The cost curve of checking drafts, for one model on one computer, in seconds.

Without drafts, the model evaluates one token at a time: a plain step, `step(0)`. With k drafted
tokens it evaluates k + 1 tokens at once, which takes `step(k)`: hardly longer if memory limits the
speed, nearly k + 1 times as long if arithmetic does. The curve need not be smooth or convex
(kernels that take four rows at a time make step(3) as cheap as step(2)), so each k is kept
separately. A calibration measures some k. Those in between are interpolated linearly; those beyond
lie on the steeper of two lines, through the last two points and through the first and the last.

While answering, every step is one more measurement, on a computer that also does other things. The
time of a step is the current time of a plain step, multiplied by the ratio c(k) = step(k) /
step(0). The first, the *factor*, changes from moment to moment, with other programs and the growing
context; the ratios hardly change. How certain each is decides which of the two a surprise adjusts
(`Estimate`, on logarithms of times). A calibration with a wrong plain step has all ratios wrong in
the opposite direction, so the first plain steps after it correct the whole curve. A run of equal
steps moves the factor, and the next step with another k shows whether that was right.

If two successive steps differ in k, the second also pays for the *switch*: llama.cpp keeps the
graph of one shape, and builds a new one for another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, inf, isfinite, log, sqrt
from sys import float_info

from engines.types import MAX_DEPTH

Matrix = list[list[float]]

_TAMED = 3.0
"""Standard deviations beyond which a surprise counts no further, as it has another cause."""

_NOTHING = 1e-18
"""The share of a number's variance below which a measurement's effect on it is not computed.

Most numbers soon have nothing to do with the measured one, and each step's time is precious.
"""


class Estimate:
    """Several roughly known numbers, all of which each new measurement adjusts.

    A Kalman filter. In addition to the numbers, it holds how uncertain each is, and which errors
    they share: a measurement of one number then also corrects the others, as far as they were wrong
    for the same reason. Source: R. E. Kálmán, "A New Approach to Linear Filtering and Prediction
    Problems", 1960.

    Args:
        values: The believed values.
        covariance: The covariance of their errors, row by row.
    """

    def __init__(self, values: Sequence[float], covariance: Matrix) -> None:
        self.values = list(values)
        # Only the values up to the diagonal are kept: the matrix stays exactly symmetric.
        self._rows = [row[: place + 1] for place, row in enumerate(covariance)]

    def deviation(self, index: int) -> float:
        """Return one standard deviation of a number."""
        return sqrt(max(0.0, self._rows[index][index]))

    def loosen(self, index: int, variance: float) -> None:
        """Increase a number's variance, as it may have changed since it was last measured."""
        self._rows[index][index] += variance

    def loosen_together(self, directions: Sequence[float], variance: float) -> None:
        """Increase the variance of all numbers, as all may have changed for the same reason.

        Args:
            directions: How strongly each number would change.
            variance: The variance of the common change.
        """
        for row, one in zip(self._rows, directions, strict=True):
            by = variance * one
            row[:] = [old + by * directions[column] for column, old in enumerate(row)]

    def unsure(self, index: int) -> float:
        """Return the variance of number 0 plus number `index`; with index 0, of number 0 alone."""
        rows = self._rows
        if index == 0:
            return rows[0][0]
        return rows[0][0] + 2 * rows[index][0] + rows[index][index]

    def observe(self, index: int, missed: float, noise: float) -> bool:
        """Learn a measurement of number 0 plus number `index`; with index 0, of number 0 alone.

        Args:
            index: The other number.
            missed: The measurement minus the believed value.
            noise: The variance of a measurement.

        Returns:
            Whether the measurement was too far off to be believed; then it counts only in part.
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


_PLAIN_OFF = 0.03  # error of a calibrated plain step; in logarithms, as all below
_STEP_OFF = 0.03  # error of another measured step
_BETWEEN_OFF = 0.1  # error of a step that was not measured, for each k to the nearest measured one
_STORED_OFF = 0.1  # the least error of a curve kept for another day
_DRIFT = 0.01  # change of the plain step from one step to the next
_RATIO_DRIFT = 0.002  # change of c(k) from one step(k) to the next
_DRAFT_DRIFT = 0.01  # change of the cost of a draft, in plain steps
_NEVER_TIMED = 10.0  # change of the cost of a draft that was never timed
_DRAFT_SPREAD = 0.15  # spread of the times of drafts, which sometimes include a switch
_USUAL_SPREAD = 0.05  # spread of the times of steps, until more is known
_LEAST_SPREAD = 2 * _DRIFT  # below this, drift hides the spread, and it is never learnt again
_MOST_SPREAD = 0.5  # above this, no time would be a surprise, and the estimate would not adapt
_SPREAD_LEARNT = 0.1  # weight of one step in the estimate of the spread
_WILDEST = 4.0  # number of spreads beyond which a step counts no further in it
_PROOFS = 4  # number of plain steps as long as expected before the calibration is trusted
_KNOWN = 0.04  # a ratio with no larger error than this is not worth a try
_STRANGE = 2.0  # number of spreads beyond which a measurement is a surprise
_OVERHEAD_LEARNT = 1 / 16  # weight of one step in the estimate of the time spent beside it
_FORMAT = 4

TOO_FAST_S = 0.001
"""Seconds of a plain step below which drafts cannot save time.

Observing, deciding and learning take a tenth of a millisecond of Python at each step, and a call of
a small model costs most of its time whatever is in it, so a guess takes half a plain step. Measured
on a model with plain steps of 0.1 ms: 1.2 times as fast by all that was timed, but 0.9 times by the
clock.
"""


class Costs:
    """The cost curve; `factor` is in seconds, all other costs are in plain steps.

    Args:
        steps: Measured seconds of step(k) by k, each after another step with the same k; must
            include 0.
        draft: Seconds for one token of the model's own drafter; 0.0 without one.
        limit: The deepest draft.
        switch: Extra seconds of a step after one with another k.

    Attributes:
        factor: Seconds of a plain step.
        ratios: The time of a check, by k.
        draft: The time of a draft.
        switch: The extra time of a step with another shape.
        overhead: The time that a step with drafts takes in Python.
        prices: The whole time of a step with drafts, by k.
        hoped: The ratios if those that are little known turn out well. A k that would then pay is
            worth a try, after which it is known.
        corrected: Whether plain steps have corrected the whole curve, and too few have confirmed it
            since. They may have been held up themselves, which only another plain step can show.
        untried: Whether, in addition, no deeper step has been timed since. The whole calibration
            may have been held up rather than only its plain steps, which only a deeper step can
            show.

    Raises:
        ValueError: The times are impossible.
    """

    _hoped: list[float]

    def __init__(
        self,
        steps: Mapping[int, float],
        draft: float = 0.0,
        limit: int = MAX_DEPTH,
        switch: float = 0.0,
    ) -> None:
        known = {k: seconds for k, seconds in steps.items() if 0 <= k <= limit}
        if 0 not in known or not all(isfinite(s) and s > 0 for s in known.values()):
            raise ValueError(f"no cost curve can be made of {dict(steps)}")
        if not (isfinite(draft) and draft >= 0):
            raise ValueError(f"a draft cannot take {draft} seconds")
        if not (isfinite(switch) and switch >= 0):
            raise ValueError(f"another shape cannot take {switch} seconds")
        self.switch = switch / known[0]
        self._overhead_s = 0.0
        self._drafts = draft > 0
        ratios, errors = _curve({k: seconds / known[0] for k, seconds in known.items()}, limit)
        self._take(known[0], [*ratios, draft / known[0]], _together(errors))
        # The error of each if the plain step's error is 1, all in logarithms.
        self._if_plain_off = [one.get(0, 0.0) / _PLAIN_OFF for one in errors]
        self._spread = _USUAL_SPREAD
        self._last = -1
        self._doubted = 0.0
        self._unproven = _PROOFS
        self.corrected = self.untried = False

    @property
    def limit(self) -> int:
        """The deepest draft in the curve."""
        return len(self.ratios) - 1

    @property
    def hoped(self) -> Sequence[float]:
        """The optimistic ratios, computed on demand because most steps do not need them."""
        if not self._hoped:
            off = self._estimate.deviation
            rest = enumerate(self.ratios[1:], start=1)
            self._hoped = [1.0, *(ratio * exp(min(0.0, _KNOWN - off(k))) for k, ratio in rest)]
        return self._hoped

    def step_seconds(self, k: int) -> float:
        """Return the current seconds for evaluating the last token and k drafted ones."""
        return self.factor * self.ratios[k]

    def draft_seconds(self) -> float:
        """Return the current seconds for drafting one token."""
        return self.factor * self.draft

    def ratio(self, k: int) -> float:
        """Return c(k): the time to check k drafts, in plain steps."""
        return self.ratios[k]

    def best_possible(self) -> float:
        """Return the gain at the best depth if all drafts of the model's own drafter were right."""
        return max(1.0, *((k + 1) / price for k, price in enumerate(self.prices)))

    @property
    def too_fast(self) -> bool:
        """True if a plain step is so short that drafts cannot shorten an answer."""
        return self.factor < TOO_FAST_S

    def observe_step(self, k: int, seconds: float) -> bool:
        """Learn the time of a step that checked k drafts; return whether it is a surprise."""
        if not 0 < seconds < inf:
            return False
        estimate, spread = self._estimate, self._spread
        last, self._last = self._last, k
        expected = self.ratios[k] + (self.switch if last not in (k, -1) else 0.0)
        missed = log(seconds / (self.factor * expected))
        estimate.loosen(0, _DRIFT**2)
        if k:
            estimate.loosen(k, _RATIO_DRIFT**2)
        if estimate.unsure(k) < spread**2:
            size = min(abs(missed), _WILDEST * spread)
            learnt = spread + _SPREAD_LEARNT * (size - spread)
            self._spread = max(_LEAST_SPREAD, min(_MOST_SPREAD, learnt))
        if missed * self._doubted > 0:
            # One stall proves nothing. After two in a row, the computer's speed has changed. If
            # both are plain steps and few have been confirmed yet, its speed may instead have been
            # different when the calibration timed plain steps; but not if they now take longer than
            # a deeper step did, as more tokens never take less time.
            changed = min(missed, self._doubted, key=abs)
            room = log(min(self.ratios[1:], default=1.0))
            if k == last == 0 and self._unproven and changed < room:
                estimate.loosen_together(self._if_plain_off, changed**2)
                self._unproven = _PROOFS
                self.corrected = self.untried = True
            estimate.loosen(0, changed**2)
        self._doubted = missed if estimate.observe(k, missed, spread**2) else 0.0
        if k:
            self.untried = False
        elif not self._doubted:
            self._unproven = max(0, self._unproven - 1)
            self.corrected = self.corrected and self._unproven > 0
        self._read()
        return abs(missed) > _STRANGE * spread

    def observe_draft(self, count: int, seconds: float) -> None:
        """Learn the time of drafting `count` tokens."""
        if count <= 0 or not 0 < seconds < inf:
            return
        estimate, place = self._estimate, len(self.ratios)
        missed = log(seconds / count / self.factor) - estimate.values[place]
        estimate.loosen(place, (_DRAFT_DRIFT if self._drafts else _NEVER_TIMED) ** 2)
        estimate.observe(place, missed, _DRAFT_SPREAD**2)
        self._drafts = True
        self._read()

    def observe_overhead(self, seconds: float) -> None:
        """Learn the time that a step with drafts spent besides evaluating, drawing and drafting.

        It takes effect with the next observed step.
        """
        if 0 < seconds < inf:
            known = self._overhead_s or seconds
            self._overhead_s = known + _OVERHEAD_LEARNT * (min(seconds, _TAMED * known) - known)

    def as_json(self) -> dict[str, object]:
        """Return the curve as JSON values, to be kept for the next time.

        "unsure" holds the deviations of the logarithms of c(1) and so on, and of the cost of a
        draft. Shared errors are not kept: they come from today's plain step.
        """
        return {
            "format": _FORMAT,
            "factor": self.factor,
            "draft": self.draft,
            "switch": self.switch,
            "beside": self.overhead,
            "ratios": list(self.ratios),
            "unsure": [
                max(_STORED_OFF, self._estimate.deviation(k + 1)) for k in range(len(self.ratios))
            ],
        }

    @classmethod
    def from_json(cls, data: object) -> Costs | None:
        """Read a curve that was kept; return None, to measure again, if `data` is not one."""
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            return None
        ratios, unsure = _numbers(data.get("ratios")), _numbers(data.get("unsure"))
        singles = ("factor", "draft", "switch", "beside")
        single = _numbers([data.get(name) for name in singles])
        if not ratios or unsure is None or single is None or len(ratios) != len(unsure):
            return None
        factor, *relative = single
        possible = (
            ratios[0] == 1
            and all(0.1 < ratio < 1000 for ratio in ratios)
            and all(0 <= deviation < 10 for deviation in unsure)
            and 1e-7 < factor < 1e4
            and all(0 <= cost < 1000 for cost in relative)
        )
        if not possible:
            return None
        draft, switch, overhead = relative
        costs = cls({0: factor}, draft * factor, len(ratios) - 1, switch * factor)
        costs._overhead_s = overhead * factor
        costs._take(factor, [*ratios, draft], _apart([_PLAIN_OFF, *unsure]))
        return costs

    def _take(self, factor: float, ratios: Sequence[float], covariance: Matrix) -> None:
        """Start with these values.

        Args:
            factor: Seconds of a plain step.
            ratios: The ratios from c(0), which is 1, on; the last number is the cost of a draft, or
                0.0.
            covariance: The covariance of the errors of their logarithms.
        """
        values = [log(factor), *(log(ratio or 1.0) for ratio in ratios[1:])]
        self._estimate = Estimate(values, covariance)
        self._read()

    def _read(self) -> None:
        plain, *ratios, draft = self._estimate.values
        self.factor = exp(plain)
        self.ratios = [1.0, *map(exp, ratios)]
        self._hoped = []
        self.draft = exp(draft) if self._drafts else 0.0
        self.overhead = self._overhead_s / self.factor
        self.prices = [c + k * self.draft + self.overhead for k, c in enumerate(self.ratios)]


class SharedCosts:
    """The costs of one drafter's guesses, alone and among several answers, for all sequences.

    The unit among n answers is the time in which one of them draws a token, the nth part of a
    common step. Any further time for drafts is lost to the other answers as well. So drafts are
    made only if they bring more tokens than all answers together would have drawn in that time.
    """

    def __init__(self, single: Costs) -> None:
        self.single = single
        self._among: dict[int, Costs] = {}

    def among(self, running: int) -> Costs:
        """Return the costs in a step of `running` answers.

        Until it is measured, a step is assumed to cost the same as one with as many tokens, and
        drafts to cost one more call: llama.cpp evaluates the extra tokens of one sequence
        separately.
        """
        if running == 1:
            return self.single
        if running not in self._among:
            self._among[running] = self._expected(running)
        return self._among[running]

    def _expected(self, running: int) -> Costs:
        single = self.single
        most = min(running - 1, single.limit)
        share = single.step_seconds(most) / (most + 1)
        steps = {0: share}
        for k in range(1, single.limit + 1):
            steps[k] = share + single.step_seconds(k - 1)
        return Costs(steps, single.draft_seconds(), single.limit)


def _apart(deviations: Sequence[float]) -> Matrix:
    """Return the covariance of numbers that share no errors."""
    size = range(len(deviations))
    return [[deviations[row] ** 2 if row == column else 0.0 for column in size] for row in size]


def _together(errors: Sequence[Mapping[int, float]]) -> Matrix:
    """Return the covariance of numbers with these errors, given by their causes."""
    return [
        [sum(error * other.get(cause, 0.0) for cause, error in one.items()) for other in errors]
        for one in errors
    ]


def _curve(known: Mapping[int, float], limit: int) -> tuple[list[float], list[dict[int, float]]]:
    """Return the ratio of each k, and the errors of all numbers by their causes.

    The numbers are the logarithms of the factor, of c(1) and so on, and of the cost of a draft. A
    cause is a measured k, or a number beyond them. Everything measured shares the error of the
    plain step, which it is a ratio to. A value that was not measured has a part of the errors of
    the points that its line goes through, and an error of its own; beyond the last measured point,
    the line's slope may be wrong.
    """
    measured = sorted(known)
    last = measured[-1]
    ratios, errors = [1.0], [{0: _PLAIN_OFF}]
    own, draft, slope = limit, 2 * limit + 1, 2 * limit + 2
    for k in range(1, limit + 1):
        low = max(m for m in measured if m <= k)
        high = min((m for m in measured if m >= k), default=low)
        part = (k - low) / (high - low) if high > low else 0.0
        ratio = known[low] * (1 - part) + known[high] * part
        off = {high: part * _STEP_OFF, low: (1 - part) * (_STEP_OFF if low else _PLAIN_OFF)}
        if k > last:
            ratio += _rise(known, measured) * (k - last)
            off[slope] = _BETWEEN_OFF * (k - last)
        elif k not in known:
            off[own + k] = _BETWEEN_OFF * min(k - low, high - k)
        off[0] = off.get(0, 0.0) - _PLAIN_OFF
        ratios.append(ratio)
        errors.append(off)
    errors.append({0: -_PLAIN_OFF, draft: _STEP_OFF})
    return ratios, errors


def _rise(known: Mapping[int, float], measured: Sequence[int]) -> float:
    """Return the cost of each further draft beyond the last measured point."""
    last = measured[-1]
    if last == 0:
        return 1.0  # if only the plain step was measured, assume no gain at all
    before = measured[-2]
    return max((known[last] - known[before]) / (last - before), (known[last] - 1) / last, 0.0)


def _numbers(data: object) -> list[float] | None:
    """Return the values of a list as floats; None if any of them is not a finite number."""
    if not isinstance(data, list):
        return None
    numbers = [
        float(n)
        for n in data
        if isinstance(n, int | float) and not isinstance(n, bool) and abs(n) <= float_info.max
    ]
    return numbers if len(numbers) == len(data) else None
