"""A real vLLM on the processor, with the starter's pair and MTP: the contract, and its end.

The tests build on each other, as each start takes a minute: the shared worker is killed after the
last test that needs it. These are killed here, in a real tree: the API server when ready, the
guardian while loading, a worker in mid-answer, the engine core when ready, the app while loading.
All other pairs of process and phase are in `test_guarding`, with the same guardian.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.base import Engine
from engines.cancel import CancelToken
from engines.errors import EngineError, EngineFailed
from engines.types import Done, EngineStatus, Event, PromptReady, Sampling, TextDelta, VllmPlan
from engines.vllm.engine import VllmEngine
from engines.vllm.marks import marked
from engines.vllm.places import record_of
from engines.vllm.processes import processes
from engines.vllm.provision.home import Installed
from tests.engines.contract import EngineContract, answer, ask, done_of, run, text_of
from tests.engines.vllm.conftest import (
    AT_ONCE,
    DEPTH,
    DRAFTING,
    LONG,
    SharedEngine,
    shared_memory,
)
from tests.engines.vllm.faked import gone, make_engine, members, tree
from tests.support.paths import ROOT
from tests.support.waiting import until

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(400),
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]


RUNNING = "vllm:num_requests_running"
GENERATED = "vllm:generation_tokens_total"
DRAFTED = "vllm:spec_decode_num_draft_tokens_total"
ACCEPTED = "vllm:spec_decode_num_accepted_tokens_total"


def figure(engine: VllmEngine, name: str) -> float:
    """Return a figure that the worker itself reports."""
    found = engine.metrics()
    assert found is not None
    return found.get(name, 0.0)


class TestContract(EngineContract):
    """The contract on the shared worker, whose prefix cache is in whole blocks and not reported."""

    counts_cached = False
    has_worker = True
    cached_again = False
    after_cancel = 3
    answers_at_once = AT_ONCE

    @pytest.fixture
    def engine(self, shared_vllm: VllmEngine) -> VllmEngine:
        engine = SharedEngine(shared_vllm)
        engine.close()
        return engine

    @pytest.fixture
    def plan(self) -> VllmPlan:
        return DRAFTING

    @pytest.fixture
    def at_work(self, loaded: Engine) -> Callable[[], bool]:
        assert isinstance(loaded, VllmEngine)
        return lambda: figure(loaded, RUNNING) > 0

    @pytest.fixture
    def missing(self, plan: VllmPlan, tmp_path: Path) -> VllmPlan:
        pytest.skip("it would end the shared worker: see test_memory")

    def test_a_seed_can_be_repeated(self, loaded: Engine) -> None:
        """vLLM takes no temperature above 2."""
        hot = Sampling(temperature=2.0, top_k=0, top_p=1.0, min_p=0.0)
        said = [
            answer(loaded, ask("Tell me something.", sampling=replace(hot, seed=seed)))
            for seed in (1, 1, 2, 3)
        ]
        assert said[0] == said[1]
        assert len(set(said)) > 1

    def test_a_cancelled_load_leaves_nothing_loaded(self, engine: Engine, plan: VllmPlan) -> None:
        pytest.skip("it would end the shared worker: see test_guarding")

    def test_it_says_what_it_is_doing(self, engine: Engine, plan: VllmPlan) -> None:
        pytest.skip("the shared worker is there from the beginning: see the test below")


QUESTIONS = ("What is Hearth?", "Can you help me?", "Where are my chats?")


@pytest.fixture(scope="module")
def drafted(shared_vllm: VllmEngine) -> list[list[Event]]:
    """Return the answers of the shared worker to the questions."""
    return [run(shared_vllm, ask(question, max_tokens=100)) for question in QUESTIONS]


def test_answers_are_drafted(drafted: list[list[Event]]) -> None:
    assert all(done_of(it).mtp.accepted > 0 for it in drafted)


def test_the_report_says_what_runs(shared_vllm: VllmEngine) -> None:
    report = shared_vllm.revive(lambda _: None, CancelToken())
    assert (report.device, report.mtp, report.mtp_switch) == ("CPU", "drafter", "restart")
    assert report.restart_s == report.load_s > 1
    assert (report.context, report.context_trained) == (512, 4096)


def test_all_its_processes_carry_its_mark(shared_vllm: VllmEngine) -> None:
    """So do those to which vLLM gives another name."""
    worker = shared_vllm.worker
    assert worker is not None
    mark = json.loads(record_of(worker.place).read_text())["mark"]
    everything = {pid for pid, _ in members(worker.guardian)} - {worker.guardian}
    assert len(everything) >= 4
    assert {it.pid for it in marked(mark, processes())} == everything


def test_acceptance_is_the_worker_s_own(shared_vllm: VllmEngine) -> None:
    names = DRAFTED, ACCEPTED, GENERATED
    before = [figure(shared_vllm, name) for name in names]
    done = done_of(run(shared_vllm, ask("What is Hearth?", max_tokens=60)))
    after = [figure(shared_vllm, name) for name in names]
    drafted, accepted, generated = (now - then for now, then in zip(after, before, strict=True))
    assert (done.mtp.drafted, done.mtp.accepted) == (drafted, accepted)
    assert 0 < accepted <= drafted
    assert generated == done.usage.completion_tokens == 60
    assert done.mtp.active
    assert done.mtp.reason.startswith(f"MTP on: {DEPTH} tokens ahead, ")


def test_a_wish_that_needs_a_restart_is_said(shared_vllm: VllmEngine) -> None:
    report = done_of(run(shared_vllm, ask("What is Hearth?", mtp="off", max_tokens=8))).mtp
    assert (report.mode, report.active) == ("off", True)
    assert "with a restart" in report.reason


def test_sampling_with_drafts_is_sampling(shared_vllm: VllmEngine) -> None:
    """The processor's build is patched for this; a low temperature gives the greedy answer."""
    greedy = answer(shared_vllm, ask("What is Hearth?"))
    cool = Sampling(temperature=0.01, top_k=40, top_p=0.95)
    assert answer(shared_vllm, ask("What is Hearth?", sampling=cool)) == greedy


def test_a_cancel_stops_the_server(shared_vllm: VllmEngine) -> None:
    cancel, before = CancelToken(), figure(shared_vllm, GENERATED)
    request = ask("What is Hearth?", max_tokens=400, sampling=Sampling(2.0, seed=1))
    for event in shared_vllm.chat(request, cancel):
        if isinstance(event, TextDelta):
            cancel.cancel()
    assert isinstance(event, Done)
    assert event.finish_reason == "cancelled"
    until(lambda: figure(shared_vllm, RUNNING) == 0)
    more = figure(shared_vllm, GENERATED) - before
    assert more < 400, "the server has stopped, too"


def test_a_killed_server_takes_its_engine_along(
    shared_vllm: VllmEngine, shared_before: set[Path]
) -> None:
    """The server is ready; without a guardian, two processes and 2.3 GB would stay."""
    worker = shared_vllm.worker
    assert worker is not None
    everything = members(worker.guardian)
    assert len(everything) >= 5
    os.kill(worker.session, signal.SIGKILL)
    until(lambda: gone(everything))
    assert not shared_vllm.is_healthy
    assert shared_memory() <= shared_before, "what it shared is given back"
    shared_vllm.close()


@pytest.fixture(scope="module")
def engine(vllm: Installed, vllm_folder: Path) -> Iterator[VllmEngine]:
    engine = make_engine(vllm, vllm_folder, silent_s=300)
    yield engine
    engine.close()


def test_a_guardian_killed_while_it_loads(engine: VllmEngine) -> None:
    """vLLM ignores SIGTERM then; Hearth ends it."""
    caught: list[EngineError] = []

    def load() -> None:
        try:
            engine.load(DRAFTING, lambda _: None, CancelToken())
        except EngineError as error:
            caught.append(error)

    thread = threading.Thread(target=load)
    thread.start()
    until(lambda: engine.status().words == "Starting the engine", seconds=240)
    worker = engine.worker
    assert worker is not None
    until(lambda: "core" in tree(worker.session, worker.guardian))
    time.sleep(1.0)
    everything = members(worker.guardian)
    os.kill(worker.guardian, signal.SIGKILL)
    thread.join()
    assert gone(everything)
    assert caught


@pytest.fixture(scope="module")
def loading(engine: VllmEngine) -> list[EngineStatus]:
    """Load a worker without drafts, which stays; return its reports meanwhile."""
    seen = [engine.status()]
    plan = replace(DRAFTING, draft_max=0, context=LONG)
    engine.load(plan, lambda _: seen.append(engine.status()), CancelToken())
    return seen


def test_it_says_what_it_is_doing(engine: VllmEngine, loading: list[EngineStatus]) -> None:
    assert loading[0].state == "stopped"
    assert {status.state for status in loading[1:-1]} == {"loading"}
    assert "Starting the engine" in {status.words for status in loading[1:-1]}
    shares = [status.share for status in loading[1:-1]]
    assert shares == sorted(shares)
    worker = engine.worker
    assert worker is not None
    ready = engine.status()
    assert (ready.state, ready.words, ready.process) == ("ready", "", worker.session)
    events = engine.chat(ask(QUESTIONS[0]), CancelToken())
    next(events)
    assert engine.status().state == "ready", "also while it answers"
    events.close()


@pytest.fixture(scope="module")
def plain(engine: VllmEngine, loading: list[EngineStatus]) -> list[list[Event]]:
    """Return the answers of the worker without drafts to the questions."""
    return [run(engine, ask(question, max_tokens=100)) for question in QUESTIONS]


def test_greedy_answers_are_the_same_with_and_without_drafts(
    engine: VllmEngine, drafted: list[list[Event]], plain: list[list[Event]], vllm_folder: Path
) -> None:
    assert [text_of(it) for it in drafted] == [text_of(it) for it in plain]
    assert DRAFTED not in (engine.metrics() or {})
    report = done_of(plain[0]).mtp
    assert (report.active, report.reason) == (False, "MTP is off, as chosen.")
    speeds = json.loads((vllm_folder / "speeds.json").read_text())
    assert [sorted(page) for page in speeds.values()] == [["0", str(DEPTH)]], "an A/B was measured"


def test_a_long_prompt_is_answered_with_a_seed(
    engine: VllmEngine, plain: list[list[Event]]
) -> None:
    """On a processor, vLLM ended at a prompt that it read in pieces."""
    long = ask("What is Hearth? " * 600, sampling=Sampling(seed=7), max_tokens=24)
    events = run(engine, long)
    assert isinstance(events[0], PromptReady)
    assert 2048 < events[0].prompt_tokens < LONG
    assert text_of(events)


def test_a_worker_killed_in_mid_answer(engine: VllmEngine, plain: list[list[Event]]) -> None:
    worker = engine.worker
    assert worker is not None
    everything = members(worker.guardian)
    victim = tree(worker.session, worker.guardian)["worker"].pid
    caught: list[EngineError] = []

    def ask_it() -> None:
        try:
            run(engine, ask(QUESTIONS[0], max_tokens=400))
        except EngineError as error:
            caught.append(error)

    # It is stopped, as so small a model would answer before it could be killed.
    os.kill(victim, signal.SIGSTOP)
    thread = threading.Thread(target=ask_it)
    thread.start()
    time.sleep(1.0)
    assert thread.is_alive(), "the answer is under way"
    os.kill(victim, signal.SIGKILL)
    thread.join()
    assert [type(error) for error in caught] == [EngineFailed]
    assert "Ask again" in caught[0].do
    assert gone(everything)


@pytest.fixture(scope="module")
def revived(engine: VllmEngine) -> str:
    """Return the next answer, which starts the worker again."""
    return answer(engine, ask(QUESTIONS[0], max_tokens=100))


def test_the_next_answer_works_and_then_the_engine_core_dies(
    engine: VllmEngine, plain: list[list[Event]], revived: str
) -> None:
    """Its exit code is 0 then, but the engine recognises the failure."""
    assert revived == text_of(plain[0])
    worker = engine.worker
    assert worker is not None
    everything = members(worker.guardian)
    os.kill(tree(worker.session, worker.guardian)["core"].pid, signal.SIGKILL)
    until(lambda: not engine.is_healthy)
    until(lambda: gone(everything), 30)
    engine.close()
    ended = engine.status()
    assert (ended.state, ended.process) == ("stopped", 0)
    assert ended.log, "what the worker wrote stays"


def test_an_app_killed_while_it_loads(vllm: Installed, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.engines.vllm.app_alone"]
    app = subprocess.Popen(
        [*words, str(vllm.folder.parent.parent), str(tmp_path), "true"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with app:
        assert app.stdout is not None
        guardian, stage = 0, ""
        while stage != "Starting the engine":
            _, guardian, stage = json.loads(app.stdout.readline())
        everything = members(guardian)
        assert len(everything) >= 4
        app.kill()
    until(lambda: gone(everything), 30)
    assert list((tmp_path / "run").iterdir()) == []
