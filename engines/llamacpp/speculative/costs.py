"""What it costs to check drafted tokens: the cost curve of one model on one computer. Seconds.

Without drafts the model evaluates one token at a time: a plain step, `step(0)`. With k drafted
tokens it evaluates k + 1 tokens at once, which takes `step(k)`: hardly longer where the memory
sets the pace, nearly k + 1 times as long where arithmetic does. The curve need not be smooth or
convex (kernels that take four rows at a time make step(3) as cheap as step(2)), so each k is kept
by itself. A calibration measures some k; those between are interpolated on straight lines, those
beyond lie on the steeper of two lines, through the last two and through the first and the last.

While answering, every step is one more measurement, in a computer that does other things as
well. Two causes are kept apart. A *common factor*, the plain step's time now, follows quickly: it
takes up other programs and the growing context. The *ratios* c(k) = step(k) / step(0) change
slowly. A run of equal steps cannot tell one from the other, and moves the factor alone; where two
steps in a row differ in k, the factor has had no time to change, and what the prediction missed
is put down to the ratios of the two. Such a step also pays for the *switch*: llama.cpp keeps the
graph of one shape, and builds it anew for another. All is done with logarithms of times, and a
surprise counts no further than a few times the usual deviation, so that one stall moves hardly
anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import exp, isfinite, log

from engines.types import MAX_DEPTH

_FAST = 0.15  # share of a surprise that goes into the common factor
_SLOW = 0.05  # and into the cost of a draft
_MEMORY = 12.0  # a ratio is the mean of about this many comparisons
_CALIBRATED = 4.0  # comparisons that a calibration is worth
_LEAST_SPREAD = 0.01
_FORMAT = 2


class Costs:
    """The cost curve; `factor` is in seconds, `ratios`, `draft` and `switch` in plain steps.

    steps: measured seconds of step(k) by k, after another one of the same k; 0 must be among them.
    draft: seconds of one token of the model's own drafter, 0.0 without one. switch: seconds that a
    step takes longer after one of another k. Raises ValueError for times that cannot be.
    """

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
        self.factor = known[0]
        self.ratios = [known.get(k, 0.0) / known[0] for k in range(limit + 1)]
        self.draft = draft / known[0]
        self.switch = switch / known[0]
        self._weights = [_CALIBRATED if k in known else 0.0 for k in range(limit + 1)]
        self._spread = 0.05
        self._last = -1
        self._interpolate()

    @property
    def limit(self) -> int:
        """The deepest draft that the curve knows."""
        return len(self.ratios) - 1

    def step_seconds(self, k: int) -> float:
        """Seconds to evaluate the last token and k drafted ones, as the computer is now."""
        return self.factor * self.ratios[k]

    def draft_seconds(self) -> float:
        """Seconds to draft one token, as the computer is now."""
        return self.factor * self.draft

    def ratio(self, k: int) -> float:
        """c(k): the time to check k drafts, in plain steps."""
        return self.ratios[k]

    def best_possible(self) -> float:
        """The gain if every draft of the model's own drafter were right, at the best depth."""
        return max((k + 1) / (c + k * self.draft) for k, c in enumerate(self.ratios))

    def observe_step(self, k: int, seconds: float) -> None:
        """Take a step that checked k drafts into account."""
        if seconds <= 0:
            return
        last, self._last = self._last, k
        switched = last not in (k, -1)
        expected = self.ratios[k] + (self.switch if switched else 0.0)
        missed = log(seconds / (self.factor * expected))
        spread = self._spread
        self._spread = max(_LEAST_SPREAD, spread + 0.1 * (min(abs(missed), 4 * spread) - spread))
        if switched:
            up, down = self._share(k), self._share(last)
            surprise = _tamed(missed, 6 * spread)
            self.ratios[k] *= exp(up * surprise)
            # the last step's time was predicted well: its ratio and the factor change together
            self.ratios[last] *= exp(-down * surprise)
            self.factor *= exp(down * surprise)
            missed -= (up + down) * surprise
            if 0 < self._weights[k] < _CALIBRATED:
                self._interpolate()
        self.factor *= exp(_FAST * _tamed(missed, 3 * spread))

    def observe_draft(self, count: int, seconds: float) -> None:
        """Take the drafting of `count` tokens into account."""
        if count > 0 and seconds > 0:
            each = seconds / count / self.factor
            if self.draft == 0:
                self.draft = each
            else:
                self.draft *= exp(_SLOW * _tamed(log(each / self.draft), 0.5))

    def as_json(self) -> dict[str, object]:
        """The curve as plain values, to be kept for the next time."""
        return {
            "format": _FORMAT,
            "factor": self.factor,
            "draft": self.draft,
            "switch": self.switch,
            "ratios": list(self.ratios),
            "weights": list(self._weights),
        }

    @classmethod
    def from_json(cls, data: object) -> Costs | None:
        """The curve that was kept, or None where `data` is not one: measure again."""
        if not isinstance(data, dict) or data.get("format") != _FORMAT:
            return None
        ratios, weights = _numbers(data.get("ratios")), _numbers(data.get("weights"))
        single = _numbers([data.get("factor"), data.get("draft"), data.get("switch")])
        if not ratios or not weights or single is None or len(ratios) != len(weights):
            return None
        factor, draft, switch = single
        if ratios[0] != 1 or not all(0.1 < r < 1000 for r in ratios) or min(weights) < 0:
            return None
        if not (1e-7 < factor < 1e4 and 0 <= draft < 1000 and 0 <= switch < 1000):
            return None
        kept = cls({0: factor}, draft * factor, len(ratios) - 1, switch * factor)
        kept.ratios = ratios
        kept._weights = [min(weight, _MEMORY) for weight in weights]
        return kept

    def _share(self, k: int) -> float:
        """How much of a difference between two steps goes to the ratio of k, now a known one."""
        if k == 0:
            return 0.0
        weight = self._weights[k] = min(self._weights[k] + 1, _MEMORY)
        return 1 / (weight + 1)

    def _interpolate(self) -> None:
        """Give each k that was never measured a ratio from those that were."""
        known = [k for k, weight in enumerate(self._weights) if weight > 0]
        ratios = self.ratios
        for low, high in pairwise(known):
            rise = (ratios[high] - ratios[low]) / (high - low)
            for k in range(low + 1, high):
                ratios[k] = ratios[low] + rise * (k - low)
        last = known[-1]
        rise = 1.0  # with nothing but the plain step measured: no gain at all
        if last > 0:
            before = known[-2]
            recent = (ratios[last] - ratios[before]) / (last - before)
            rise = max(recent, (ratios[last] - 1) / last, 0.0)
        for k in range(last + 1, len(ratios)):
            ratios[k] = ratios[last] + rise * (k - last)


def _tamed(surprise: float, most: float) -> float:
    return max(-most, min(most, surprise))


def _numbers(data: object) -> list[float] | None:
    """The finite numbers of a list, or None."""
    if not isinstance(data, list):
        return None
    numbers = [float(n) for n in data if isinstance(n, int | float) and not isinstance(n, bool)]
    return numbers if len(numbers) == len(data) and all(map(isfinite, numbers)) else None
