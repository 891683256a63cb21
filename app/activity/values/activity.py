"""The engines' work over the last minutes, as curves.

Curves are computed from the records of requests, so nothing is measured while no page shows them.
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
        first_token_s: Mean time to the first token, in seconds, of the requests that got it then.
        cache_share: Share of prompt tokens that came from the cache.
        accepted_share: Share of drafted tokens that were accepted.
        memory: In bytes.
    """

    step_s: float
    running: Curve
    waiting: Curve
    generated_rate: Curve
    prompt_rate: Curve
    first_token_s: Curve
    cache_share: Curve
    accepted_share: Curve
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

    def of_prompts(request: RequestRecord) -> tuple[float | None, float, float]:
        return request.first, request.tokens.cached, request.tokens.prompt

    def of_drafts(request: RequestRecord) -> tuple[float | None, float, float]:
        return request.last, request.tokens.accepted, request.tokens.drafted

    def of_firsts(request: RequestRecord) -> tuple[float | None, float, float]:
        return request.first, (request.first or request.asked) - request.asked, 1

    return ActivityCurves(
        step_s,
        running=time.spread((request.begun, request.ended or now, None) for request in requests),
        waiting=time.spread(
            (
                *((request.asked, request.begun, None) for request in requests),
                *((request.asked, now, None) for request in waiting),
            )
        ),
        generated_rate=time.spread(
            (request.first, request.last, request.tokens.generated)
            for request in requests
            if request.first is not None and request.last is not None
        ),
        prompt_rate=time.spread(
            (request.begun, request.first, request.tokens.prompt - request.tokens.cached)
            for request in requests
            if request.first is not None
        ),
        first_token_s=time.ratio(requests, of_firsts),
        cache_share=time.ratio(requests, of_prompts),
        accepted_share=time.ratio(requests, of_drafts),
        memory=time.latest(memory),
    )


class _Stretches:
    """The last `SPAN_S` seconds before a moment, divided into stretches of step_s seconds."""

    def __init__(self, until: float, step_s: float) -> None:
        self._count = round(SPAN_S / step_s)
        self._step = step_s
        self._start = until - SPAN_S

    def spread(self, spells: Iterable[tuple[float, float, float | None]]) -> Curve:
        """Spread amounts evenly over their time, and return the rate per second.

        Args:
            spells: Begin, end and amount. If the amount is None, the result is how many spells
                there were, on average.
        """
        sums = [0.0] * self._count
        for start, end, amount in spells:
            if end <= start:
                if amount and (at := self._at(start)) is not None:
                    sums[at] += amount
                continue
            weight = 1.0 if amount is None else amount / (end - start)
            for at, seconds in self._overlaps(start, end):
                sums[at] += weight * seconds
        return tuple(total / self._step for total in sums)

    def ratio(
        self,
        requests: Iterable[RequestRecord],
        parts: Callable[[RequestRecord], tuple[float | None, float, float]],
    ) -> Curve:
        """Return the ratio of two sums in each stretch; None if the lower sum is 0.

        Args:
            parts: Returns a request's moment, and what it adds to the upper and the lower sum.
        """
        upper_sums, lower_sums = [0.0] * self._count, [0.0] * self._count
        for request in requests:
            moment, upper, lower = parts(request)
            if moment is not None and (at := self._at(moment)) is not None:
                upper_sums[at] += upper
                lower_sums[at] += lower
        return tuple(
            up / down if down else None for up, down in zip(upper_sums, lower_sums, strict=True)
        )

    def latest(self, samples: Iterable[tuple[float, float]]) -> Curve:
        """Return the last sample of each stretch."""
        values: list[float | None] = [None] * self._count
        for moment, value in samples:
            if (at := self._at(moment)) is not None:
                values[at] = value
        return tuple(values)

    def _at(self, moment: float) -> int | None:
        at = math.floor((moment - self._start) / self._step)
        return at if 0 <= at < self._count else None

    def _overlaps(self, start: float, end: float) -> Iterator[tuple[int, float]]:
        """Yield the stretches that overlap with a spell, with the seconds of overlap."""
        index = max(0, math.floor((start - self._start) / self._step))
        for at in range(index, self._count):
            stretch_start = self._start + at * self._step
            if stretch_start >= end:
                return
            if (seconds := min(end, stretch_start + self._step) - max(start, stretch_start)) > 0:
                yield at, seconds
