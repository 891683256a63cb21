"""Parts of the download queue: the rate, process checks, and the system's connection state."""

from __future__ import annotations

import os

import pytest

from app.base.processes import is_alive, this_process
from app.models.downloads.services.entry import Rate
from app.models.downloads.services.metered import is_metered, parse_reply


def test_a_steady_rate_is_told_as_it_is() -> None:
    rate = Rate()
    assert rate.bytes_per_s is None
    for second in range(10):
        rate.update(second * 500, float(second))
    assert rate.bytes_per_s == pytest.approx(500)
    assert rate.seconds_left(5000) == pytest.approx(10)


def test_the_first_buffers_are_no_speed() -> None:
    rate = Rate()
    rate.update(0, 0.0)
    rate.update(4_000_000, 0.01)
    assert rate.bytes_per_s is None
    assert rate.seconds_left(1) is None
    rate.update(5_000_000, 2.0)
    assert (rate.seconds_left(5_000_000) or 0) == pytest.approx(2.9, rel=0.1)


def test_a_change_comes_through_within_seconds_and_not_at_once() -> None:
    rate = Rate()
    for tick in range(50):
        rate.update(tick * 100, tick / 10)
    rate.update(4900 + 300, 5.0)
    assert 1000 < (rate.bytes_per_s or 0) < 1200
    for tick in range(1, 200):
        rate.update(5200 + tick * 300, 5.0 + tick / 10)
    assert rate.bytes_per_s == pytest.approx(3000, rel=0.05)


def test_a_new_start_is_a_new_measurement() -> None:
    rate = Rate()
    rate.update(1000, 0.0)
    rate.update(2000, 1.0)
    rate.update(10, 2.0)
    assert rate.bytes_per_s is None
    assert rate.seconds_left(10) is None


def test_this_process_is_alive_and_one_of_its_number_is_not() -> None:
    assert is_alive(this_process())
    assert not is_alive(f"{os.getpid()} 12.00")
    assert not is_alive("nonsense")


@pytest.mark.parametrize(
    ("number", "metered"), [(0, None), (1, True), (2, False), (3, True), (4, False)]
)
def test_the_reply_of_network_manager(number: int, metered: bool | None) -> None:
    assert parse_reply((("u", number),)) is metered


def test_an_error_for_a_reply_is_nothing_known() -> None:
    assert parse_reply(("no such property",)) is None


def test_without_the_system_s_bus_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere/at/all")
    assert is_metered() is None
