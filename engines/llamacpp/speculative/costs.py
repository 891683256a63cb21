"""The cost curve of checking drafts, of one model on one computer. Seconds.

Without drafts the model evaluates one token at a time: a plain step, `step(0)`. With k drafted
tokens it evaluates k + 1 tokens at once, which takes `step(k)`: hardly longer where the memory
sets the pace, nearly k + 1 times as long where arithmetic does. The curve need not be smooth or
convex (kernels that take four rows at a time make step(3) as cheap as step(2)), so each k is kept
by itself. A calibration measures some k; those between are interpolated on straight lines, those
beyond lie on the steeper of two lines, through the last two and through the first and the last.

While answering, every step is one more measurement, in a computer that does other things as
well. What a step takes is the plain step's time now times the ratio c(k) = step(k) / step(0). The
first, the *factor*, changes from moment to moment, with other programs and the growing context;
the ratios hardly do. Which of the two a surprise is about is weighed by how sure each is
(`estimate`, on logarithms of times). A calibration that had the plain step wrong has all ratios
wrong the other way, so the first plain steps after it put the whole curve right; a run of equal
steps moves the factor, and the next step of another k tells whether that was so.

Where two steps in a row differ in k, the second also pays for the *switch*: llama.cpp keeps the
graph of one shape, and builds it anew for another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, inf, isfinite, log, sqrt
from sys import float_info

from engines.types import MAX_DEPTH

Matrix = list[list[float]]

_TAMED = 3.0
"""Standard deviations beyond which a surprise counts no further: something else was the cause."""

_NOTHING = 1e-18
"""Of a number's variance, the part below which it need not be worked out what a measurement tells:
most numbers soon have nothing to do with the one measured, and each step's time is precious."""


class Estimate:
    """Several numbers known only roughly, and what one more measurement says about all of them.

    A Kalman filter. Beside the numbers it holds how unsure each is, and which errors they share: a
    measurement of one then mends the others as far as they were wrong for the same reason. Source:
    R. E. Kálmán, "A New Approach to Linear Filtering and Prediction Problems", 1960.
    values: what is believed. covariance: of their errors, row by row.
    """

    def __init__(self, values: Sequence[float], covariance: Matrix) -> None:
        self.values = list(values)
        # Only up to the diagonal: the rest is the same, and stays so to the last bit.
        self._rows = [row[: place + 1] for place, row in enumerate(covariance)]

    def deviation(self, index: int) -> float:
        """Return one standard deviation of a number."""
        return sqrt(max(0.0, self._rows[index][index]))

    def loosen(self, index: int, variance: float) -> None:
        """Take into account that a number may have changed since it was last measured."""
        self._rows[index][index] += variance

    def loosen_together(self, directions: Sequence[float], variance: float) -> None:
        """Take into account that all may have changed for one reason, each by its direction.

        variance: of what is unknown.
        """
        for row, one in zip(self._rows, directions, strict=True):
            by = variance * one
            row[:] = [old + by * directions[column] for column, old in enumerate(row)]

    def unsure(self, index: int) -> float:
        """Return the variance of the first number plus that one; index 0: of the first alone."""
        rows = self._rows
        if index == 0:
            return rows[0][0]
        return rows[0][0] + 2 * rows[index][0] + rows[index][index]

    def observe(self, index: int, missed: float, noise: float) -> bool:
        """Learn a measurement of the first number plus that one; index 0: of the first alone.

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


_PLAIN_OFF = 0.03  # how far off a calibration may be, in logarithms, as all below: the plain step
_STEP_OFF = 0.03  # another step that was measured
_BETWEEN_OFF = 0.1  # one that was not, for each k that it lies away from a measured one
_KEPT_OFF = 0.1  # the least for what is kept for another day
_DRIFT = 0.01  # what the plain step changes by from one step to the next
_RATIO_DRIFT = 0.002  # what c(k) changes by from one step(k) to the next
_DRAFT_DRIFT = 0.01  # what the cost of a draft changes by, in plain steps
_NEVER_TIMED = 10.0  # the cost of a draft where there was no drafter yet
_DRAFT_SPREAD = 0.15  # of the times of drafts, which hold a switch of their own now and then
_USUAL_SPREAD = 0.05  # of the times of steps, until it is known better
_LEAST_SPREAD = 2 * _DRIFT  # with less, drift alone hides it, and it could never be learnt anew
_MOST_SPREAD = 0.5  # with more, no time would surprise, and nothing would follow it
_SPREAD_LEARNT = 0.1  # the share of a step in what is known of the spread
_WILDEST = 4.0  # spreads beyond which a step counts no further in it
_PROOFS = 4  # plain steps that take as long as expected before the calibration is trusted
_KNOWN = 0.04  # a ratio that is off by no more than that is not worth a try
_STRANGE = 2.0  # spreads of what is measured beyond which it is a surprise
_BESIDE_LEARNT = 1 / 16  # the share of a step in what is known of the time spent beside it
_FORMAT = 4

TOO_FAST_S = 0.001
"""Plain steps that take less leave nothing to win. To observe, decide and learn takes a tenth of a
millisecond of Python at each step, and a call of a small model costs most of its time whatever is
in it, so a guess takes half of a plain step. Measured on a model of 0.1 ms: 1.2 times as fast by
all that was timed, and 0.9 times by the clock."""


class Costs:
    """The cost curve; `factor` is in seconds, all others in plain steps.

    ratios, draft, switch: of a check, a draft and another shape. beside: what a step with drafts
    takes in Python. prices: what one takes in all, by k.

    `hoped`: the ratios where those that are little known turn out well; a k that is worth its time
    then is worth a try, after which it is known.

    `corrected`: plain steps put the whole curve right, and too few have come true since: they may
    have been held up themselves, which only another plain step can tell. `untried`: nor has any
    deeper step been timed since: the whole calibration may have been held up, and not its plain
    steps alone, which only a deeper step can tell.

    steps: measured seconds of step(k) by k, after another one of the same k; 0 must be among them.
    draft: seconds of one token of the model's own drafter, 0.0 without one. switch: seconds that a
    step takes longer after one of another k. Raises ValueError for times that cannot be.
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
        self._beside_s = 0.0
        self._drafts = draft > 0
        ratios, errors = _curve({k: seconds / known[0] for k, seconds in known.items()}, limit)
        self._take(known[0], [*ratios, draft / known[0]], _together(errors))
        # How far off each is where the plain step is by 1, all in logarithms.
        self._if_plain_off = [one.get(0, 0.0) / _PLAIN_OFF for one in errors]
        self._spread = _USUAL_SPREAD
        self._last = -1
        self._doubted = 0.0
        self._unproven = _PROOFS
        self.corrected = self.untried = False

    @property
    def limit(self) -> int:
        """The deepest draft that the curve knows."""
        return len(self.ratios) - 1

    @property
    def hoped(self) -> Sequence[float]:
        """The ratios to be hoped for, worked out when asked for: most steps do without."""
        if not self._hoped:
            off = self._estimate.deviation
            rest = enumerate(self.ratios[1:], start=1)
            self._hoped = [1.0, *(ratio * exp(min(0.0, _KNOWN - off(k))) for k, ratio in rest)]
        return self._hoped

    def step_seconds(self, k: int) -> float:
        """Return the seconds to evaluate the last token and k drafted ones, as things are now."""
        return self.factor * self.ratios[k]

    def draft_seconds(self) -> float:
        """Return the seconds to draft one token, as the computer is now."""
        return self.factor * self.draft

    def ratio(self, k: int) -> float:
        """Return c(k): the time to check k drafts, in plain steps."""
        return self.ratios[k]

    def best_possible(self) -> float:
        """Return the gain at the best depth if all of the model's own drafts were right."""
        return max(1.0, *((k + 1) / price for k, price in enumerate(self.prices)))

    @property
    def too_fast(self) -> bool:
        """Whether a plain step takes so little that drafts cannot make it less."""
        return self.factor < TOO_FAST_S

    def observe_step(self, k: int, seconds: float) -> bool:
        """Take a step that checked k drafts into account; returns whether its time surprises."""
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
            seen = min(abs(missed), _WILDEST * spread)
            learnt = spread + _SPREAD_LEARNT * (seen - spread)
            self._spread = max(_LEAST_SPREAD, min(_MOST_SPREAD, learnt))
        if missed * self._doubted > 0:
            # One stall says nothing. Two in a row, and the computer has become another; if both are
            # plain steps and few came true yet, it may as well have been another while the
            # calibration timed those. Not if they take longer than a deeper one did: more tokens
            # never take less.
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
        """Take the drafting of `count` tokens into account."""
        if count <= 0 or not 0 < seconds < inf:
            return
        estimate, place = self._estimate, len(self.ratios)
        missed = log(seconds / count / self.factor) - estimate.values[place]
        estimate.loosen(place, (_DRAFT_DRIFT if self._drafts else _NEVER_TIMED) ** 2)
        estimate.observe(place, missed, _DRAFT_SPREAD**2)
        self._drafts = True
        self._read()

    def observe_beside(self, seconds: float) -> None:
        """Take into account what a step with drafts took beside evaluating, drawing and drafting.

        It counts from the next step that is observed on.
        """
        if 0 < seconds < inf:
            known = self._beside_s or seconds
            self._beside_s = known + _BESIDE_LEARNT * (min(seconds, _TAMED * known) - known)

    def as_json(self) -> dict[str, object]:
        """Return the curve as plain values, to be kept for the next time.

        unsure: of the logarithms of c(1) and so on, and of the cost of a draft. What errors share
        is not kept: it is that of a plain step of this day.
        """
        return {
            "format": _FORMAT,
            "factor": self.factor,
            "draft": self.draft,
            "switch": self.switch,
            "beside": self.beside,
            "ratios": list(self.ratios),
            "unsure": [
                max(_KEPT_OFF, self._estimate.deviation(k + 1)) for k in range(len(self.ratios))
            ],
        }

    @classmethod
    def from_json(cls, data: object) -> Costs | None:
        """Read a curve that was kept; None where `data` is none: measure again."""
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            return None
        ratios, unsure = _numbers(data.get("ratios")), _numbers(data.get("unsure"))
        singles = ("factor", "draft", "switch", "beside")
        single = _numbers([data.get(name) for name in singles])
        if not ratios or unsure is None or single is None or len(ratios) != len(unsure):
            return None
        factor, *others = single
        possible = (
            ratios[0] == 1
            and all(0.1 < ratio < 1000 for ratio in ratios)
            and all(0 <= deviation < 10 for deviation in unsure)
            and 1e-7 < factor < 1e4
            and all(0 <= other < 1000 for other in others)
        )
        if not possible:
            return None
        draft, switch, beside = others
        kept = cls({0: factor}, draft * factor, len(ratios) - 1, switch * factor)
        kept._beside_s = beside * factor
        kept._take(factor, [*ratios, draft], _apart([_PLAIN_OFF, *unsure]))
        return kept

    def _take(self, factor: float, ratios: Sequence[float], covariance: Matrix) -> None:
        """Begin with these. ratios: from c(0), which is 1, on; last what a draft takes, or 0.0."""
        values = [log(factor), *(log(ratio or 1.0) for ratio in ratios[1:])]
        self._estimate = Estimate(values, covariance)
        self._read()

    def _read(self) -> None:
        plain, *ratios, draft = self._estimate.values
        self.factor = exp(plain)
        self.ratios = [1.0, *map(exp, ratios)]
        self._hoped = []
        self.draft = exp(draft) if self._drafts else 0.0
        self.beside = self._beside_s / self.factor
        self.prices = [c + k * self.draft + self.beside for k, c in enumerate(self.ratios)]


class SharedCosts:
    """The costs of one drafter's guesses, alone and among several answers; for all sequences.

    The unit among n answers is the time in which one of them draws a token, the nth part of a step
    of all: what drafts take beyond that is lost to the others as well. So drafts are made only
    where they bring more tokens than all answers together would have drawn in that time.
    """

    def __init__(self, alone: Costs) -> None:
        self.alone = alone
        self._among: dict[int, Costs] = {}

    def among(self, running: int) -> Costs:
        """Return the costs in a step of so many answers.

        Before it is measured, a step is taken for one of as many tokens, and drafts for one more
        call: llama.cpp evaluates what one sequence has more than the others by itself.
        """
        if running == 1:
            return self.alone
        if running not in self._among:
            self._among[running] = self._expected(running)
        return self._among[running]

    def _expected(self, running: int) -> Costs:
        alone = self.alone
        most = min(running - 1, alone.limit)
        share = alone.step_seconds(most) / (most + 1)
        steps = {0: share}
        for k in range(1, alone.limit + 1):
            steps[k] = share + alone.step_seconds(k - 1)
        return Costs(steps, alone.draft_seconds(), alone.limit)


def _apart(deviations: Sequence[float]) -> Matrix:
    """Return the covariance of numbers that share no errors."""
    size = range(len(deviations))
    return [[deviations[row] ** 2 if row == column else 0.0 for column in size] for row in size]


def _together(errors: Sequence[Mapping[int, float]]) -> Matrix:
    """Return the covariance of numbers that have these errors, each by its cause."""
    return [
        [sum(error * other.get(cause, 0.0) for cause, error in one.items()) for other in errors]
        for one in errors
    ]


def _curve(known: Mapping[int, float], limit: int) -> tuple[list[float], list[dict[int, float]]]:
    """The ratio of each k; and the errors of the logarithms of the factor, of c(1) and so on, and
    of the cost of a draft, each by its cause: a measured k, or a number beyond them.

    All that was measured has the error of the plain step, which it is a ratio to. What was not
    has a part of the errors of those on whose line it lies, and one of its own; beyond the last
    that was measured, the line's slope may be wrong.
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
    """Return how much each further draft costs beyond the last that was measured."""
    last = measured[-1]
    if last == 0:
        return 1.0  # with nothing but the plain step measured: no gain at all
    before = measured[-2]
    return max((known[last] - known[before]) / (last - before), (known[last] - 1) / last, 0.0)


def _numbers(data: object) -> list[float] | None:
    """Return the finite numbers of a list, or None."""
    if not isinstance(data, list):
        return None
    numbers = [
        float(n)
        for n in data
        if isinstance(n, int | float) and not isinstance(n, bool) and abs(n) <= float_info.max
    ]
    return numbers if len(numbers) == len(data) else None
