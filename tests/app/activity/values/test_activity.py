"""The activity curves of the last minutes, computed from the records of requests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.activity.values.activity import ActivityCurves, Curve, curves
from app.runtime.values.request_records import (
    SPAN_S,
    RequestRecord,
    SampledAs,
    TokenCounts,
    WaitingRequest,
)

NOW = 10_000.0
STEP = 10.0
ONE = RequestRecord(
    "guide", "llamacpp", 0.0, NOW - 60, NOW - 50, "chat", SampledAs(0.7, 0.95, 40, None, None),
    NOW - 45, NOW - 15, NOW - 14, "stop",
    TokenCounts(prompt=100, cached=40, generated=300, drafted=50, accepted=20),
)  # fmt: skip


def drawn(*requests: RequestRecord, waiting: tuple[WaitingRequest, ...] = ()) -> ActivityCurves:
    return curves(requests, waiting, (), NOW, NOW, STEP)


def end(curve: Curve, count: int = 6) -> list[float | None]:
    return list(curve[-count:])


def test_a_request_is_spread_over_the_time_it_took() -> None:
    found = drawn(ONE)
    assert len(found.generated_rate) == SPAN_S / STEP
    assert end(found.waiting) == [1, 0, 0, 0, 0, 0]
    assert end(found.running) == pytest.approx([0, 1, 1, 1, 0.6, 0])
    assert end(found.generated_rate) == pytest.approx([0, 5, 10, 10, 5, 0])
    assert end(found.prompt_rate) == pytest.approx([0, 6, 0, 0, 0, 0])
    assert sum(it or 0 for it in found.generated_rate) * STEP == pytest.approx(300)


def test_shares_stand_where_they_were_known() -> None:
    found = drawn(ONE, replace(ONE, tokens=TokenCounts(prompt=300, cached=300)))
    assert end(found.first_token_s) == [None, 15, None, None, None, None]
    assert end(found.cache_share) == [None, 340 / 400, None, None, None, None]
    assert end(found.accepted_share) == [None, None, None, None, 20 / 50, None]


def test_one_that_runs_or_waits_reaches_until_now() -> None:
    running = replace(ONE, ended=None, end=None, last=NOW, tokens=TokenCounts(100, 40, 90))
    found = drawn(running, waiting=(WaitingRequest("guide", "llamacpp", NOW - 25),))
    assert end(found.running) == [0, 1, 1, 1, 1, 1]
    assert end(found.waiting) == pytest.approx([1, 0, 0, 0.5, 1, 1])
    assert end(found.generated_rate, 4) == pytest.approx([2, 2, 2, 2])


def test_an_answer_of_one_piece_is_counted_at_its_moment() -> None:
    found = drawn(replace(ONE, last=ONE.first))
    assert end(found.generated_rate) == pytest.approx([0, 30, 0, 0, 0, 0])


def test_what_is_older_leaves_at_the_left_edge() -> None:
    moved = {name: getattr(ONE, name) - SPAN_S + 40 for name in ("asked", "begun", "first", "last")}
    found = drawn(replace(ONE, **moved, ended=NOW - SPAN_S + 26))
    assert found.generated_rate[:3] == pytest.approx((10, 10, 5))
    assert found.first_token_s == (None,) * 60
    assert sum(it or 0 for it in found.waiting) == 0


def test_the_memory_is_that_of_the_last_look() -> None:
    found = curves((), (), ((NOW - 700, 1.0), (NOW - 8, 5.0), (NOW - 2, 7.0)), NOW, NOW, STEP)
    assert end(found.memory, 2) == [None, 7.0]
