"""What the engines did over the last minutes, as curves. Pure.

Curves are drawn from the records of requests, so nothing is measured while nobody looks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.runtime.values.request_records import SPAN_S, RequestRecord, TokenCounts, WaitingRequest

Curve = tuple[float | None, ...]
"""A value for each stretch of time, the oldest first; None where there is none."""


@dataclass(frozen=True)
class ActivityCurves:
    """Curves over `SPAN_S`, in stretches of step_s seconds.

    running, waiting: requests, on average. written, read: tokens a second, of answers and of
    prompts. to_first: seconds to the first token, of the requests that had it then, on average.
    hits: share of prompts that needed no reading. accepted: share of drafted tokens that became
    part of an answer. memory: bytes.
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
    """What the window shows of the engines' activity.

    curves: for plots; by_minute: the same for a table. recent: requests within `SPAN_S`. answered:
    those that have ended since Hearth was opened, with their tokens.
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
    """Draw the curves up to a moment. memory: moments, by the same clock, and bytes."""
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
    """The last `SPAN_S` before a moment, in stretches of step_s seconds."""

    def __init__(self, until: float, step_s: float) -> None:
        self._count = round(SPAN_S / step_s)
        self._step = step_s
        self._begin = until - SPAN_S

    def spread(self, spells: Iterable[tuple[float, float, float | None]]) -> Curve:
        """Spread what took from one moment to another evenly over it, as so much a second.

        Where the amount is None, it is the time itself: how many there were, on average.
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
        """Divide sums. parts: a request's moment, and what it adds above and below the line."""
        above, below = [0.0] * self._count, [0.0] * self._count
        for request in requests:
            moment, upper, lower = parts(request)
            if moment is not None and (at := self._at(moment)) is not None:
                above[at] += upper
                below[at] += lower
        return tuple(up / down if down else None for up, down in zip(above, below, strict=True))

    def latest(self, samples: Iterable[tuple[float, float]]) -> Curve:
        """Take the last sample of each stretch."""
        found: list[float | None] = [None] * self._count
        for moment, value in samples:
            if (at := self._at(moment)) is not None:
                found[at] = value
        return tuple(found)

    def _at(self, moment: float) -> int | None:
        at = math.floor((moment - self._begin) / self._step)
        return at if 0 <= at < self._count else None

    def _overlaps(self, begin: float, end: float) -> Iterator[tuple[int, float]]:
        """Yield the stretches that a spell touches, with the seconds that lie in each."""
        first = max(0, math.floor((begin - self._begin) / self._step))
        for at in range(first, self._count):
            left = self._begin + at * self._step
            if left >= end:
                return
            if (seconds := min(end, left + self._step) - max(begin, left)) > 0:
                yield at, seconds
