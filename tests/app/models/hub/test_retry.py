"""Retries, the wait that servers ask for, and the speed limit, without a network."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.models.hub.limiter import Bucket
from app.models.hub.retry import Patience, is_transient, requested_wait_s, retry_after


def test_the_wait_doubles_up_to_the_longest() -> None:
    patience = Patience(first_s=1.0, most_s=10.0)
    assert [patience.delay(failures, 1.0) for failures in range(1, 7)] == [1, 2, 4, 8, 10, 10]


def test_a_random_share_takes_up_to_half_of_it() -> None:
    assert Patience(first_s=1.0).delay(1, 0.0) == 0.5


def test_patience_ends_after_so_many_failures_in_a_row() -> None:
    assert Patience(attempts=3).delay(2, 1.0) is not None
    assert Patience(attempts=3).delay(3, 1.0) is None
    assert Patience().delay(10_000, 1.0) is not None


def test_a_server_may_ask_for_a_longer_wait_but_not_for_days() -> None:
    assert Patience(first_s=1.0).delay(1, 1.0, requested_wait_s=30.0) == 30.0
    assert Patience(first_s=1.0).delay(1, 1.0, requested_wait_s=0.1) == 1.0
    assert Patience(first_s=1.0).delay(1, 1.0, requested_wait_s=1e9) == 3600.0


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520])
def test_what_may_get_better(status: int) -> None:
    assert is_transient(status)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 416, 451])
def test_what_does_not(status: int) -> None:
    assert not is_transient(status)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("12", 12.0),
        (" 0 ", 0.0),
        (formatdate(1_000_090, usegmt=True), 90.0),
        (formatdate(900_000, usegmt=True), 0.0),
        ("Mon, 12 Jan 1970 13:48:10", 90.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        (None, None),
    ],
)
def test_a_retry_after_header(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, 1_000_000.0) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"RateLimit": '"api";r=0;t=90'}, 90.0),
        ({"RateLimit": '"api";r=3;t=90'}, None),
        ({"RateLimit": '"api";r=0;t=90', "Retry-After": "5"}, 5.0),
        ({"RateLimit": f'"api";r=0;t={"9" * 5000}'}, float("inf")),
        ({}, None),
    ],
)
def test_how_long_a_busy_server_asks_to_wait(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert requested_wait_s(headers, 0.0) == seconds


@given(st.lists(st.integers(1, 1 << 20), min_size=1, max_size=200), st.floats(1e3, 1e9))
def test_no_more_than_the_limit_passes(pieces: list[int], rate: float) -> None:
    bucket, now, passed = Bucket(), 1000.0, 0
    for piece in pieces:
        now += bucket.take(piece, rate, now)
        passed += piece
    assert passed <= rate * (now - 1000.0 + 0.2) * 1.001 + 1


def test_a_pause_is_no_credit_for_a_flood() -> None:
    bucket = Bucket()
    bucket.take(100, 100.0, 0.0)
    assert bucket.take(120, 100.0, 1000.0) == pytest.approx(1.0)
