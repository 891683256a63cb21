"""Benchmarks and comparisons of draft modes, with a scripted engine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from pytestqt.qtbot import QtBot

from app.activity.services.measuring.bench import Bench
from app.activity.services.measuring.prompts import KINDS, prompts_for
from app.activity.values.bench_results import BenchResult, BenchStep
from app.base.shipped import STARTER
from app.kit.tasks.tasks import Tasks
from app.models.library.presenters.same_answer import SameAnswer
from app.models.library.values.same_answer import PromptComparison
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.errors import MtpUnavailable
from engines.types import MtpCheck, MtpMode, MtpReport
from tests.support.outcomes import Tell, outcome
from tests.support.services import Services

EVERY: tuple[MtpMode, ...] = ("off", "auto", "on")


@pytest.fixture
def bench(services: Services) -> Bench:
    return Bench(services.runtime)


def measure(
    bench: Bench, services: Services, modes: tuple[MtpMode, ...], rounds: int, tokens: int = 2
) -> list[BenchStep | BenchResult]:
    entry = services.library.find("starter")
    return list(
        bench.measure(entry, Settings(), modes, tokens, rounds, lambda _: None, CancelToken())
    )


def test_modes_are_measured_side_by_side_in_rounds(bench: Bench, services: Services) -> None:
    services.engine.reports = [
        MtpReport("on", True, "runs", "drafter", 2, drafted=10, accepted=7, gain=1.3, bound=1.5)
    ]
    *steps, result = measure(bench, services, EVERY, 3)
    assert isinstance(result, BenchResult)
    assert len(steps) == 3 * 3 * len(KINDS)
    assert [kind.kind for kind in result.kinds] == list(KINDS)
    for kind in result.kinds:
        assert kind.prefill_tok_s == 500.0
        off, auto, on = kind.modes
        assert (off.mode, off.gain, off.decode_tok_s, off.drafted) == ("off", None, 100.0, 0)
        assert (auto.gain, on.gain) == (1.0, 1.0)
        assert (on.bound, on.drafted, on.accepted, on.reason) == (1.5, 30, 21, "runs")
        assert all(mode.same_text for mode in kind.modes)
    counted = [request for request in services.engine.requests if request.max_tokens == 2]
    firsts = [request.mtp for request in counted[:: len(EVERY)]]
    assert firsts == ["off"] * 4 + ["auto"] * 4 + ["on"] * 4, "each mode is first in its turn"
    assert {request.sampling.temperature for request in counted} == {0.0}
    assert {request.chat for request in counted} == {None}


def test_short_answers_are_asked_for_again(bench: Bench, services: Services) -> None:
    *_, result = measure(bench, services, ("off",), 1, tokens=5)
    assert isinstance(result, BenchResult)
    assert [kind.modes[0].tokens for kind in result.kinds] == [6] * 4, "three answers of two"
    services.engine.pieces = ()
    measure(bench, services, ("off",), 1, tokens=7)
    empty = [request for request in services.engine.requests if request.max_tokens == 7]
    assert len(empty) == 4 * 8, "it gives up after eight answers"


def test_another_text_is_noticed(bench: Bench, services: Services) -> None:
    class Alternating(list[str]):
        def __iter__(self) -> Iterator[str]:
            return iter([f"{len(services.engine.requests)}"])

    services.engine.pieces = Alternating()
    *_, result = measure(bench, services, ("off", "on"), 1)
    assert isinstance(result, BenchResult)
    assert not any(kind.modes[1].same_text for kind in result.kinds)


def test_off_alone_has_nothing_to_compare_with(bench: Bench, services: Services) -> None:
    *_, result = measure(bench, services, ("off",), 1)
    assert isinstance(result, BenchResult)
    assert result.kinds[0].modes[0].gain is None


def test_a_cancelled_measurement_has_no_result(bench: Bench, services: Services) -> None:
    cancel = CancelToken()
    entry = services.library.find("starter")
    seen = []
    for event in bench.measure(entry, Settings(), EVERY, 32, 1, lambda _: None, cancel):
        seen.append(event)
        cancel.cancel()
    assert len(seen) == 1


def test_every_prompt_is_compared_at_its_depths(bench: Bench, services: Services) -> None:
    entry = services.library.find("starter")
    events = list(
        bench.compare(entry, Settings(), ((1, 2), (4,)), 64, lambda _: None, CancelToken())
    )
    found = [event for event in events if isinstance(event, PromptComparison)]
    assert [result.prompt for result in found] == [1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8]
    assert [depth for _, depth in services.engine.checked][:3] == [1, 2, 4]
    request, depth = services.engine.checked[0]
    assert (request.mtp, request.depth, request.max_tokens) == ("on", depth, 64)
    assert request.sampling.temperature == 0.0


def test_the_guide_is_asked_what_it_knows(services: Services) -> None:
    guide = prompts_for(services.library.find("starter"))
    other = prompts_for(services.library.find(str(STARTER.with_name("other.gguf"))))
    for prompts in (guide, other):
        assert set(prompts) == set(KINDS)
        assert len({text for pair in prompts.values() for text in pair}) == 8
    assert guide["chat"] != other["chat"]


@pytest.fixture
def check(bench: Bench, services: Services, qtbot: QtBot, data_dir: object) -> Iterator[SameAnswer]:
    tasks = Tasks()
    settings = SettingsService(SettingsFile(STARTER.with_name("no settings.json")))
    yield SameAnswer(bench, services.library, settings, tasks)
    tasks.close()


def test_the_window_hears_of_every_comparison(
    check: SameAnswer, services: Services, qtbot: QtBot
) -> None:
    services.engine.checks = (MtpCheck(True, 64, 1, 9), MtpCheck(False, 3, 2, 1, gap=0.5))
    steps: list[BenchStep] = []

    def start(done: Tell, failed: Tell) -> None:
        check.start(steps.append, done, failed)
        check.start(steps.append, done, failed)

    found = outcome(qtbot, start)
    assert [result.check.identical for result in found] == [True] + [False] * 7
    assert [step.done for step in steps] == list(range(8))
    assert not check.is_running


def test_a_check_says_why_it_cannot_be_done(
    check: SameAnswer, services: Services, qtbot: QtBot
) -> None:
    services.engine.checks = (MtpUnavailable("No.", "Nothing drafts.", "Add a drafter."),)
    start = partial(check.start, lambda _: None)
    assert outcome(qtbot, start).code == "mtp"
    services.engine.checks = (ZeroDivisionError(),)
    assert isinstance(outcome(qtbot, start), ZeroDivisionError)
    assert not check.is_running


def test_an_engine_that_starts_again_for_mtp_is_measured_one_mode_after_the_other(
    bench: Bench, services: Services
) -> None:
    services.engine.says = {"mtp_switch": "restart"}
    *steps, result = measure(bench, services, EVERY, 2)
    assert isinstance(result, BenchResult)
    assert [mode.mode for mode in result.kinds[0].modes] == ["off", "on"], "auto would be as on"
    assert result.kinds[0].modes[1].gain == 1.0
    counted = [request.mtp for request in services.engine.requests if request.max_tokens == 2]
    assert counted == ["off"] * len(counted[::2]) + ["on"] * len(counted[::2])
    starts = [
        it.description
        for it in steps
        if isinstance(it, BenchStep) and "starting again" in it.description
    ]
    assert starts == ["starting again with MTP on"]


def test_where_only_on_drafts_auto_is_as_off(bench: Bench, services: Services) -> None:
    services.engine.says = {"mtp_switch": "restart_for_on"}
    *_, result = measure(bench, services, EVERY, 1)
    assert isinstance(result, BenchResult)
    assert [mode.mode for mode in result.kinds[0].modes] == ["off", "on"]


def test_what_a_server_does_by_itself_is_measured_as_it_is(
    bench: Bench, services: Services
) -> None:
    services.engine.says = {"mtp_switch": "server"}
    *_, result = measure(bench, services, ("off", "on"), 1)
    assert isinstance(result, BenchResult)
    assert [mode.mode for mode in result.kinds[0].modes] == ["on"]
    assert result.kinds[0].modes[0].gain is None
