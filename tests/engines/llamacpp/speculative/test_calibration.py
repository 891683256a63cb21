"""The costs that a calibration derives from its times, which are given here."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from engines.cancel import CancelToken
from engines.llamacpp.context import EVALUATED
from engines.llamacpp.mtp import More
from engines.llamacpp.speculative import calibration
from engines.llamacpp.speculative.costs import Costs

TRUE = {0: 0.010, 1: 0.014, 3: 0.018, 7: 0.030}
SWITCH = 0.002


def calibrated(
    monkeypatch: pytest.MonkeyPatch,
    plain: Iterator[float],
    cold: float = 0.0,
    slow: float = 1.0,
    stall: int = 0,
) -> Costs:
    """Calibrate a computer whose plain steps vary, and that builds a graph for each other shape.

    Args:
        monkeypatch: Replaces the clock and the steps.
        plain: The times of plain steps in seconds.
        cold: The seconds in which the very first step reads the weights.
        slow: A factor for all times.
        stall: The number of a step that is held up; 0 for none.
    """
    done: list[int] = []
    now = 0.0

    def step(_context: Any, _cache: Any, _sampler: Any, depth: int) -> float:
        nonlocal now
        extra = cold if not done else 0.0
        extra += SWITCH if done and done[-1] != depth else 0.0
        done.append(depth)
        seconds = slow * ((next(plain) if depth == 0 else TRUE[depth]) + extra)
        seconds += 0.5 if stall and len(done) == 1 + stall else 0.0
        now += seconds
        return seconds

    monkeypatch.setattr(calibration, "time_step", step)
    monkeypatch.setattr(calibration, "perf_counter", lambda: now)
    nothing: Any = SimpleNamespace(
        drafts=8,
        drafter=None,
        clear=lambda: None,
        expose=lambda: None,
        hide=lambda: None,
        restore=lambda _: None,
    )
    return calibration.measure_costs(nothing, nothing, nothing, nothing, CancelToken())


def steady() -> Iterator[float]:
    while True:
        yield TRUE[0]


def test_the_curve_is_what_was_timed_and_the_switch_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = calibrated(monkeypatch, steady())

    assert [costs.ratio(k) for k in TRUE] == pytest.approx([1.0, 1.4, 1.8, 3.0])
    assert costs.switch == pytest.approx(SWITCH / TRUE[0])


def test_reading_the_weights_from_the_disk_is_no_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert calibrated(monkeypatch, steady(), cold=3.0).ratio(3) == pytest.approx(1.8)


def test_one_lucky_plain_step_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lucky() -> Iterator[float]:
        yield from (TRUE[0], TRUE[0], TRUE[0], 0.006)
        yield from steady()

    assert calibrated(monkeypatch, lucky()).ratio(1) == pytest.approx(1.4)


def test_more_tokens_never_take_less_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def held_up() -> Iterator[float]:
        while True:
            yield 0.050

    assert calibrated(monkeypatch, held_up()).ratio(1) >= 1.0


@pytest.mark.parametrize("stall", range(1, 7))
def test_a_slow_model_gets_one_round_and_in_that_one_step_may_be_held_up(
    monkeypatch: pytest.MonkeyPatch, stall: int
) -> None:
    """A curve by which drafts cannot win would switch them off until the next load."""
    costs = calibrated(monkeypatch, steady(), slow=2.5, stall=stall)

    assert [costs.ratio(k) for k in (1, 3)] == pytest.approx([1.4, 1.8], rel=0.25)


@pytest.mark.parametrize("stall", [None, 0, 1, 2])
def test_so_may_one_draft(monkeypatch: pytest.MonkeyPatch, stall: int | None) -> None:
    times = [0.001 + (0.2 if made == stall else 0.0) for made in range(3)]
    assert drafted(monkeypatch, times) == pytest.approx(0.001)


def test_drafts_of_one_call_share_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [0.009, 0.0, 0.0]
    assert drafted(monkeypatch, times, at_once=True) == pytest.approx(0.003)


def drafted(monkeypatch: pytest.MonkeyPatch, times: list[float], *, at_once: bool = False) -> float:
    """Return the measured time of a draft whose tokens arrive after these times."""
    now = 0.0

    def propose(_token: int, _position: int, more: More) -> None:
        nonlocal now
        for number, seconds in enumerate(times):
            now += seconds
            assert more(0, 7) is (number < len(times) - 1)

    monkeypatch.setattr(calibration, "perf_counter", lambda: now)
    anything: Any = SimpleNamespace(
        drafts=8,
        at_once=at_once,
        clear=lambda: None,
        restore=lambda _: None,
        evaluate=lambda *_, **__: EVALUATED,
        observe=lambda *_: None,
        propose=propose,
    )
    return calibration.time_draft(anything, anything, anything, anything)
