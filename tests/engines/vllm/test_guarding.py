"""No process of a worker outlives Hearth, its guardian or a crash: on a server like vLLM."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError, EngineFailed, EngineUnavailable
from engines.types import Done, TextDelta, VllmPlan
from engines.vllm import engine as vllm_engine
from engines.vllm import scratch
from engines.vllm.engine import VllmEngine
from engines.vllm.leftovers import reap, write_record
from engines.vllm.marks import new_mark
from engines.vllm.mtp_status import LOOKS_UP
from engines.vllm.processes import Process, process
from engines.vllm.scratch import runs_folder
from tests.engines.vllm.faked import (
    ASSISTANT,
    MACHINE,
    PLAN,
    SHORT_GRACE_S,
    SharingEngine,
    answer,
    behave,
    gone,
    let_look,
    load,
    make_engine,
    make_fake,
    members,
    question,
    tree,
)
from tests.support.paths import ROOT
from tests.support.suite import sampled
from tests.support.waiting import until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only"),
    # httpcore2 does not close a local socket if nothing listens at its other end.
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]

NO_ROOM = (
    "(EngineCore pid=7) ERROR 11-21 [core.py:1] ValueError: No available memory for the cache"
    " blocks. Try increasing `gpu_memory_utilization`"
)
GENERAL = "(APIServer pid=6) RuntimeError: Engine core initialization failed. See root cause above."


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """Return the folder of a made environment."""
    folder = tmp_path / "fake"
    make_fake(folder)
    return folder


@pytest.fixture(params=[VllmEngine, SharingEngine])
def engine(request: pytest.FixtureRequest, fake: Path, tmp_path: Path) -> Iterator[VllmEngine]:
    engine = make_engine(
        make_fake(fake), tmp_path / "engine", grace_s=SHORT_GRACE_S, kind=request.param
    )
    yield engine
    engine.close()


def kept(tmp_path: Path) -> list[Path]:
    """Return the files of workers on the disk: records and scratch folders."""
    return list(runs_folder(tmp_path / "engine").iterdir())


def start(engine: VllmEngine, fake: Path, phase: str, **behaviour: object) -> threading.Thread:
    """Load until the phase is reached; the returned thread ends with the load."""
    hold = {"hold": phase} if phase in {"starting", "loading"} else {}
    behave(fake, orphan=True, token_s=0.02, **hold, **behaviour)

    def run() -> None:
        try:
            load(engine)
        except (EngineError, Cancelled) as error:
            run.error = error  # type: ignore[attr-defined]

    thread = threading.Thread(target=run)
    thread.run_it = run  # type: ignore[attr-defined]
    thread.start()
    if hold:
        until(lambda: list(fake.glob(f"{phase}.*")) or not thread.is_alive())
        assert thread.is_alive()
        if phase == "loading":
            until(lambda: "worker" in tree(engine.worker.session, engine.worker.guardian))  # type: ignore[union-attr]
    else:
        thread.join()
    return thread


PHASES = ("starting", "loading", "ready", "streaming")
VICTIMS = ("api", "core", "worker", "guardian")
FEW_KILLED = [
    ("starting", "api"),
    ("loading", "core"),
    ("loading", "guardian"),
    ("ready", "guardian"),
    ("streaming", "worker"),
]


@pytest.mark.parametrize(("phase", "victim"), sampled(product(PHASES, VICTIMS), FEW_KILLED))
def test_a_killed_process_takes_the_tree_along(
    engine: VllmEngine, fake: Path, tmp_path: Path, victim: str, phase: str
) -> None:
    if phase == "starting" and victim in {"core", "worker"}:
        pytest.skip("they are not there yet")
    # It ignores SIGTERM while it loads, like the real one.
    thread = start(engine, fake, phase, obstinate=phase == "loading")
    assert engine.worker is not None
    if phase != "starting":
        until(lambda: noted(engine, tmp_path) == 4)
    everything = members(engine.worker.guardian)
    processes = tree(engine.worker.session, engine.worker.guardian)
    events = engine.chat(question(max_tokens=300), CancelToken()) if phase == "streaming" else None
    if events is not None:
        next(event for event in events if isinstance(event, TextDelta))
    os.kill(processes[victim].pid, signal.SIGKILL)
    if events is not None:
        with pytest.raises(EngineFailed) as caught:
            list(events)
        assert "Ask again" in caught.value.do
    if phase in {"ready", "streaming"}:
        until(lambda: not engine.is_healthy)
        behave(fake)
        assert answer(engine, max_tokens=5) == " word0 word1 word2 word3 word4"
    thread.join()
    until(lambda: gone(everything))
    if phase in {"starting", "loading"}:
        assert isinstance(thread.run_it.error, EngineError)  # type: ignore[attr-defined]
        assert kept(tmp_path) == []
        behave(fake)
        load(engine)
        assert answer(engine, max_tokens=2) == " word0 word1"


@pytest.mark.parametrize("phase", ["starting", "loading", "ready", "streaming"])
def test_a_killed_app_takes_the_tree_along(fake: Path, tmp_path: Path, phase: str) -> None:
    hold = {"hold": phase} if phase in {"starting", "loading"} else {}
    behave(fake, orphan=True, obstinate=phase == "loading", token_s=0.02, **hold)
    words = [sys.executable, "-m", "tests.engines.vllm.app_alone"]
    app = subprocess.Popen(
        [*words, str(fake), str(tmp_path / "engine"), "false"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert app.stdout is not None
    assert app.stdin is not None
    with app:
        guardian = 0
        if phase == "streaming":
            app.stdin.write("go on\n")
            app.stdin.flush()
        while not guardian or phase in {"ready", "streaming"}:
            said = json.loads(app.stdout.readline())
            if isinstance(said, list):
                guardian = said[1]
            if said == phase:
                break
        if hold:
            until(lambda: list(fake.glob(f"{phase}.*")))
        until(lambda: len(members(guardian)) >= (2 if phase == "starting" else 5))
        everything = members(guardian)
        app.kill()
    until(lambda: gone(everything), 20)
    assert kept(tmp_path) == []


def test_what_a_killed_pair_leaves_is_ended_at_the_next_start(
    engine: VllmEngine, fake: Path, tmp_path: Path
) -> None:
    """Hearth and its guardian are killed at once, and the worker does not obey."""
    behave(fake, orphan=True, obstinate=True, hold="loading")
    app = subprocess.Popen(
        [sys.executable, "-m", "tests.engines.vllm.app_alone",
         str(fake), str(tmp_path / "engine"), "false"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with app:
        assert app.stdout is not None
        session, guardian = 0, 0
        while not session:
            session, guardian, _ = json.loads(app.stdout.readline())
        until(lambda: "worker" in tree(session, guardian))
        until(lambda: len(json.loads(record(tmp_path).read_text())["members"]) >= 4)
        everything = members(guardian)
        app.send_signal(signal.SIGSTOP)
        os.kill(guardian, signal.SIGKILL)
        app.kill()
    until(lambda: process(guardian) is None)
    assert not gone(everything), "it ignores what the system told it"
    behave(fake)
    load(engine)
    until(lambda: gone(everything))
    assert answer(engine, max_tokens=1) == " word0"
    assert engine.worker is not None
    assert kept(tmp_path) == [
        runs_folder(tmp_path / "engine") / f"{engine.worker.place.scratch.name}.json"
    ]


def noted(engine: VllmEngine, tmp_path: Path) -> int:
    """Count the worker's processes in its record, after its guardian has just looked."""
    assert engine.worker is not None
    let_look(engine.worker.guardian)
    return len(json.loads(record(tmp_path).read_text())["members"])


def record(tmp_path: Path) -> Path:
    until(lambda: list(runs_folder(tmp_path / "engine").glob("*.json")))
    return next(runs_folder(tmp_path / "engine").glob("*.json"))


def test_of_leftovers_only_what_is_proved_is_ended(tmp_path: Path) -> None:
    """A process id that is used again, by a process with another start time, proves nothing."""
    stranger = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        its = process(stranger.pid)
        assert its is not None
        dead = Process(its.pid, its.started - 1, 1, its.session)
        none = str(tmp_path / "none")
        write_record(tmp_path / "old.json", dead, new_mark(), its.session, [dead], none)
        assert reap(tmp_path) == 0
        assert stranger.poll() is None
        assert list(tmp_path.iterdir()) == []
        write_record(tmp_path / "own.json", dead, new_mark(), its.session, [its], none)
        assert reap(tmp_path) == 1
        assert stranger.wait(60) == -signal.SIGKILL
    finally:
        stranger.kill()
        stranger.wait()


def test_a_living_guardian_s_worker_is_left_alone(engine: VllmEngine, tmp_path: Path) -> None:
    load(engine)
    assert reap(runs_folder(tmp_path / "engine")) == 0
    assert answer(engine, max_tokens=1) == " word0"


def test_close_ends_all_of_it_and_clears_up(engine: VllmEngine, fake: Path, tmp_path: Path) -> None:
    behave(fake, orphan=True)
    load(engine)
    assert engine.worker is not None
    guardian = engine.worker.guardian
    until(lambda: len(members(guardian)) == 5)  # itself, three processes and an orphan
    everything = members(guardian)
    assert (runs_folder(tmp_path / "engine").stat().st_mode & 0o777) == 0o700
    engine.close()
    assert gone(everything), "close returns when they are gone"
    assert kept(tmp_path) == []
    with pytest.raises(EngineFailed):
        answer(engine)


def test_a_worker_that_does_not_obey_is_killed(engine: VllmEngine, fake: Path) -> None:
    behave(fake, obstinate=True)
    load(engine)
    assert engine.worker is not None
    everything = members(engine.worker.guardian)
    engine.close()
    assert gone(everything)


def test_a_load_can_be_cancelled(engine: VllmEngine, fake: Path, tmp_path: Path) -> None:
    behave(fake, hold="loading")
    cancel = CancelToken()

    def stop() -> None:
        until(lambda: list(fake.glob("loading.*")))
        cancel.cancel()

    timer = threading.Thread(target=stop)
    timer.start()
    with pytest.raises(Cancelled):
        engine.load(PLAN, lambda _: None, cancel)
    timer.join()
    assert kept(tmp_path) == []
    with pytest.raises(EngineFailed):
        answer(engine)


def test_a_silent_start_is_given_up(fake: Path, tmp_path: Path) -> None:
    engine = make_engine(make_fake(fake, hold="starting"), tmp_path / "engine", silent_s=0.3)
    with pytest.raises(EngineFailed) as caught:
        load(engine)
    assert "neither reported nor computed" in caught.value.why
    assert kept(tmp_path) == []
    engine.close()


def test_progress_grows_and_the_log_is_kept(engine: VllmEngine, tmp_path: Path) -> None:
    told: list[float] = []
    engine.load(PLAN, told.append, CancelToken())
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert any("KV cache size" in line for line in engine.status().log)
    assert "KV cache size" in (tmp_path / "engine" / "vllm.log").read_text()


def test_what_the_log_says_is_the_error(engine: VllmEngine, fake: Path) -> None:
    behave(fake, fails=[NO_ROOM, GENERAL])
    with pytest.raises(EngineError) as caught:
        load(engine)
    assert caught.value.code == "memory"


def test_a_log_that_cannot_be_written_is_said(engine: VllmEngine, tmp_path: Path) -> None:
    (tmp_path / "engine" / "vllm.log").mkdir(parents=True)
    with pytest.raises(EngineFailed) as caught:
        load(engine)
    assert "vllm.log cannot be written" in caught.value.why
    assert kept(tmp_path) == []


def test_an_environment_without_its_python_leaves_nothing_behind(
    engine: VllmEngine, fake: Path, tmp_path: Path
) -> None:
    (fake / "bin" / "python").unlink()
    with pytest.raises(EngineFailed) as caught:
        load(engine)
    assert "No such file" in caught.value.why
    assert kept(tmp_path) == []


def test_it_stops_trying_after_three_crashes(
    engine: VllmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_engine, "PAUSE_S", 0.01)
    load(engine)
    for _ in range(3):
        assert answer(engine, max_tokens=1) == " word0"
        assert engine.worker is not None
        os.kill(engine.worker.session, signal.SIGKILL)
        until(lambda: not engine.is_healthy)
        until(lambda: engine.status().state == "stopped")
        assert engine.status().log
    with pytest.raises(EngineFailed) as caught:
        answer(engine)
    assert "3 times" in caught.value.why
    load(engine)
    assert answer(engine, max_tokens=1) == " word0"


def test_a_cancel_ends_the_answer_and_the_server_s_work(engine: VllmEngine, fake: Path) -> None:
    behave(fake, token_s=0.02)
    load(engine)
    cancel = CancelToken()
    for event in engine.chat(question(max_tokens=300), cancel):
        if isinstance(event, TextDelta):
            cancel.cancel()
    assert isinstance(event, Done)
    assert event.finish_reason == "cancelled"
    until(lambda: (engine.metrics() or {}).get("vllm:num_requests_running") == 0)


def test_it_tells_how_full_the_worker_s_cache_is_while_there_is_one(engine: VllmEngine) -> None:
    assert engine.cache_used() is None
    load(engine)
    assert engine.cache_used() == 0.125
    assert engine.worker is not None
    os.kill(engine.worker.session, signal.SIGKILL)
    until(lambda: not engine.is_healthy)
    assert engine.cache_used() is None, "and it is no error to ask"


def test_drafts_are_checked_by_two_starts(engine: VllmEngine) -> None:
    load(engine, replace(PLAN, drafter=ASSISTANT, draft_max=2))
    check = engine.check_mtp(question(max_tokens=8), 2, CancelToken())
    assert (check.identical, check.depth) == (True, 2)
    assert answer(engine, max_tokens=1) == " word0"


def test_it_says_what_drafts_and_which_switch_starts_it_again(
    engine: VllmEngine, fake: Path
) -> None:
    def loaded(plan: VllmPlan) -> tuple[str, str, str]:
        report = engine.load(plan, lambda _: None, CancelToken())
        return report.mtp, report.mtp_switch, report.mtp_line

    pair = replace(PLAN, drafter=ASSISTANT)
    assert loaded(replace(pair, draft_max=2)) == (
        "drafter", "restart", "This model can answer faster: 2 tokens ahead.",
    )  # fmt: skip
    assert loaded(pair)[:2] == ("none", "restart")
    kind, switch, line = loaded(PLAN)
    assert (kind, switch) == ("none", "restart_for_on")
    assert "needs its drafter" in line
    assert loaded(replace(PLAN, draft_max=4, lookup=True)) == (
        "lookup", "restart_for_on", LOOKS_UP,
    )  # fmt: skip
    words, _ = json.loads((fake / "words.json").read_text())
    assert json.loads(words[words.index("--speculative-config") + 1])["method"] == "ngram"
    *_, done = engine.chat(question(max_tokens=2, mtp="on"), CancelToken())
    assert isinstance(done, Done)
    assert (done.mtp.kind, done.mtp.reason) == ("lookup", LOOKS_UP)


def test_nothing_secret_is_in_the_command_line(engine: VllmEngine, fake: Path) -> None:
    os.environ["PYTHONPATH"], before = "/nowhere", os.environ.get("PYTHONPATH")
    try:
        load(engine)
    finally:
        os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)
    words, environment = json.loads((fake / "words.json").read_text())
    assert "--uds" in words
    assert "/nowhere" not in environment.values()
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert Path(environment["TMPDIR"]).stat().st_mode & 0o777 == 0o700


def test_where_no_socket_can_be_it_is_a_port_with_a_key(
    fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx2

    monkeypatch.setattr(scratch, "LONGEST_SOCKET", 10)
    lent: list[tuple[Path | str, str]] = []

    def connect(where: Path | str, key: str) -> httpx2.Client:
        lent.append((where, key))
        return httpx2.Client(trust_env=False)

    engine = VllmEngine(lambda: make_fake(fake), tmp_path / "engine", connect, lambda: MACHINE)
    try:
        load(engine)
        assert answer(engine, max_tokens=1) == " word0"
    finally:
        engine.close()
    words, environment = json.loads((fake / "words.json").read_text())
    ((where, key),) = lent
    assert str(where) == f"http://127.0.0.1:{words[words.index('--port') + 1]}"
    assert key == environment["VLLM_API_KEY"]
    assert len(key) > 30
    assert key not in " ".join(words)


def test_without_an_environment_it_offers_to_install_one(tmp_path: Path) -> None:
    engine = make_engine(None, tmp_path / "engine")
    with pytest.raises(EngineUnavailable) as caught:
        load(engine)
    assert caught.value.action is not None
    assert (caught.value.action.kind, caught.value.action.value) == ("install", "vllm")
