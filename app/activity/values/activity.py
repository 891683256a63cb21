"""The engines' work over the last minutes, as curves: pure.

Curves are computed from the records of requests, so nothing is measured while no one looks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.runtime.values.request_records import SPAN_S, RequestRecord, TokenCounts, WaitingRequest

Curve = tuple[float | None, ...]
"""A value for each stretch of time, the oldest first; None if there is none."""


@dataclass(frozen=True)
class ActivityCurves:
    """Curves over the last `SPAN_S` seconds, divided into stretches.

    Attributes:
        step_s: The length of a stretch, in seconds.
        running, waiting: Requests, on average.
        written, read: Tokens per second, of answers and of prompts.
        to_first: Mean time to the first token, in seconds, of the requests that got it then.
        hits: Share of prompt tokens that came from the cache.
        accepted: Share of drafted tokens that were accepted.
        memory: In bytes.
    """

    step_s: float
    running: Curve
    waiting: Curve
    written: Curve
    read: Curve
    to_first: Curve
    hits: Curve
    accepted: Curve
    memory: Curve


@dataclass(frozen=True)
class ActivityReport:
    """The engines' activity as the window shows it.

    Attributes:
        curves: For the plots.
        by_minute: The same for the table.
        recent: Number of requests within `SPAN_S`.
        answered: Number of requests that have ended since Hearth was opened.
        tokens: The tokens of those requests.
    """

    curves: ActivityCurves
    by_minute: ActivityCurves
    recent: int
    answered: int
    tokens: TokenCounts


def curves(
    requests: Sequence[RequestRecord],
    waiting: Sequence[WaitingRequest],
    memory: Sequence[tuple[float, float]],
    now: float,
    until: float,
    step_s: float,
) -> ActivityCurves:
    """Compute the curves that end at a moment.

    Args:
        memory: Samples of a moment, by the same clock, and a number of bytes.
        now: The end of requests that are still running.
        until: The end of the curves.
        step_s: The length of a stretch, in seconds.
    """
    time = _Stretches(until, step_s)

    def of_prompts(it: RequestRecord) -> tuple[float | None, float, float]:
        return it.first, it.tokens.cached, it.tokens.prompt

    def of_drafts(it: RequestRecord) -> tuple[float | None, float, float]:
        return it.last, it.tokens.accepted, it.tokens.drafted

    def of_firsts(it: RequestRecord) -> tuple[float | None, float, float]:
        return it.first, (it.first or it.asked) - it.asked, 1

    return ActivityCurves(
        step_s,
        running=time.spread((it.begun, it.ended or now, None) for it in requests),
        waiting=time.spread(
            (
                *((it.asked, it.begun, None) for it in requests),
                *((it.asked, now, None) for it in waiting),
            )
        ),
        written=time.spread(
            (it.first, it.last, it.tokens.generated)
            for it in requests
            if it.first is not None and it.last is not None
        ),
        read=time.spread(
            (it.begun, it.first, it.tokens.prompt - it.tokens.cached)
            for it in requests
            if it.first is not None
        ),
        to_first=time.ratio(requests, of_firsts),
        hits=time.ratio(requests, of_prompts),
        accepted=time.ratio(requests, of_drafts),
        memory=time.latest(memory),
    )


class _Stretches:
    """The last `SPAN_S` seconds before a moment, divided into stretches of step_s seconds."""

    def __init__(self, until: float, step_s: float) -> None:
        self._count = round(SPAN_S / step_s)
        self._step = step_s
        self._begin = until - SPAN_S

    def spread(self, spells: Iterable[tuple[float, float, float | None]]) -> Curve:
        """Spread amounts evenly over their time, and return the rate per second.

        Args:
            spells: Begin, end and amount. If the amount is None, the result is how many spells
                there were, on average.
        """
        sums = [0.0] * self._count
        for begin, end, amount in spells:
            if end <= begin:
                if amount and (at := self._at(begin)) is not None:
                    sums[at] += amount
                continue
            weight = 1.0 if amount is None else amount / (end - begin)
            for at, seconds in self._overlaps(begin, end):
                sums[at] += weight * seconds
        return tuple(it / self._step for it in sums)

    def ratio(
        self,
        requests: Iterable[RequestRecord],
        parts: Callable[[RequestRecord], tuple[float | None, float, float]],
    ) -> Curve:
        """Return the ratio of two sums in each stretch; None if the lower sum is 0.

        Args:
            parts: Returns a request's moment, and what it adds to the upper and the lower sum.
        """
        above, below = [0.0] * self._count, [0.0] * self._count
        for request in requests:
            moment, upper, lower = parts(request)
            if moment is not None and (at := self._at(moment)) is not None:
                above[at] += upper
                below[at] += lower
        return tuple(up / down if down else None for up, down in zip(above, below, strict=True))

    def latest(self, samples: Iterable[tuple[float, float]]) -> Curve:
        """Return the last sample of each stretch."""
        found: list[float | None] = [None] * self._count
        for moment, value in samples:
            if (at := self._at(moment)) is not None:
                found[at] = value
        return tuple(found)

    def _at(self, moment: float) -> int | None:
        at = math.floor((moment - self._begin) / self._step)
        return at if 0 <= at < self._count else None

    def _overlaps(self, begin: float, end: float) -> Iterator[tuple[int, float]]:
        """Yield the stretches that overlap with a spell, with the seconds of overlap."""
        first = max(0, math.floor((begin - self._begin) / self._step))
        for at in range(first, self._count):
            left = self._begin + at * self._step
            if left >= end:
                return
            if (seconds := min(end, left + self._step) - max(begin, left)) > 0:
                yield at, seconds
