"""A start reports its progress and can be cancelled; nothing waits for a worker or a driver."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.net.server_client import socket_client
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineFailed
from engines.hardware.values import Gpu, Hardware
from engines.types import EngineStatus
from engines.vllm import engine as vllm_engine
from engines.vllm import worker
from engines.vllm.engine import VllmEngine
from engines.vllm.hanging import Silence, StartWatch
from tests.engines.vllm.faked import (
    MACHINE,
    PLAN,
    SHORT_GRACE_S,
    behave,
    load,
    make_engine,
    make_fake,
    members,
)
from tests.support.waiting import until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only"),
    # httpcore2 does not close a local socket if nothing listens at its other end.
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """Return the folder of a made environment."""
    return tmp_path / "fake"


@pytest.fixture
def engine(fake: Path, tmp_path: Path) -> Iterator[VllmEngine]:
    engine = make_engine(make_fake(fake), tmp_path / "engine", grace_s=SHORT_GRACE_S)
    yield engine
    engine.close()


SILENT_S = 8.0
"""The time limit for silence in a start that compiles; it gets little of a busy machine."""


class Starting:
    """A load on a thread, which its user ends."""

    def __init__(self, engine: VllmEngine) -> None:
        self._engine = engine
        self._cancel = CancelToken()
        self._ended: list[BaseException] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def end(self) -> None:
        self._cancel.cancel()
        self._thread.join(60)
        assert not self._thread.is_alive()
        assert len(self._ended) == 1

    def finish(self) -> None:
        """Wait until the load is done."""
        self._thread.join(60)
        assert not self._thread.is_alive()
        assert not self._ended

    def _run(self) -> None:
        try:
            self._engine.load(PLAN, lambda _: None, self._cancel)
        except Cancelled as error:
            self._ended.append(error)


def test_one_that_waits_for_an_answer_ends_at_once(
    fake: Path, engine: VllmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "HEALTH_S", 600.0)
    behave(fake, hushed=True)
    starting = Starting(engine)
    until((fake / "hushed").exists)
    starting.end()


def test_it_says_what_it_does_before_and_after_its_first_words(
    fake: Path, engine: VllmEngine
) -> None:
    behave(fake, hold="starting")
    starting = Starting(engine)
    until(lambda: engine.status().state == "loading")
    until(lambda: engine.status().share > 0)
    status = engine.status()
    assert (status.words, status.elsewhere) == ("Checking the model", False)
    assert status.process
    assert status.log
    starting.end()
    assert engine.status() == EngineStatus("stopped", log=engine.status().log)


@pytest.mark.exhaustive
def test_compiling_without_a_word_is_a_stage_and_no_silence(fake: Path, tmp_path: Path) -> None:
    engine = make_engine(make_fake(fake, card=True, compiles=True), tmp_path / "engine", SILENT_S)
    shares: list[float] = []
    loads = threading.Thread(target=engine.load, args=(PLAN, shares.append, CancelToken()))
    loads.start()
    try:
        until(lambda: engine.status().detail == "sampling")
        began = time.monotonic()
        until(lambda: time.monotonic() - began > 1.2 * SILENT_S)
        assert engine.status().detail == "sampling"
        assert engine.status().words == "Compiling for this card", "the step is a text by itself"
        (fake / "compiled").touch()
        loads.join(60)
        assert engine.status().state == "ready"
        assert shares == sorted(shares)
    finally:
        engine.close()
        loads.join(60)


def test_a_compiler_shows_where_the_log_names_no_kernel(fake: Path, engine: VllmEngine) -> None:
    behave(fake, compiles=True)
    starting = Starting(engine)
    until(lambda: engine.status().words == "Compiling for this card")
    (fake / "compiled").touch()
    until(lambda: engine.status().state == "ready")
    starting.finish()


def test_a_start_that_hangs_behind_compiling_ends(fake: Path, tmp_path: Path) -> None:
    made = make_fake(fake, card=True, compiles=True, hold="loading")
    engine = make_engine(made, tmp_path / "engine", silent_s=1.0)
    (fake / "compiled").touch()
    with pytest.raises(EngineFailed, match="neither reported nor computed"):
        load(engine)
    assert engine.status().state == "stopped"


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_start_is_silent_when_it_neither_says_nor_computes_anything() -> None:
    clock = Clock()
    watch = StartWatch(600.0, clock)
    for seconds in range(0, 3600, 60):
        clock.now = 100.0 + seconds
        assert watch.check(last_line_at=100.0, computed=seconds * 0.5) is None, "it computes"
    for _ in range(10):
        clock.now += 60.0
        assert watch.check(last_line_at=100.0, computed=1800.0) is None
    clock.now += 60.0
    assert watch.check(last_line_at=clock.now, computed=1801.0) is None, (
        "it has just said something"
    )
    clock.now += 601.0
    # A process that only waits still wakes up now and then.
    assert watch.check(last_line_at=clock.now - 601.0, computed=1804.0) == Silence(
        601.0, computes=False
    )


def test_a_process_that_takes_its_time_along_is_no_silence() -> None:
    clock = Clock()
    watch = StartWatch(600.0, clock)
    for computed in (500.0, 20.0, 30.0, 40.0):
        clock.now += 400.0
        assert watch.check(last_line_at=0.0, computed=computed) is None


def test_one_that_waits_in_a_loop_ends_at_last() -> None:
    clock = Clock()
    watch = StartWatch(600.0, clock)
    while (silence := watch.check(last_line_at=100.0, computed=clock.now)) is None:
        clock.now += 60.0
    assert silence.computes
    assert 7200 < silence.seconds < 7400


def test_the_window_comes_before_all_of_the_worker(engine: VllmEngine) -> None:
    load(engine)
    assert engine.worker is not None
    guardian, window = engine.worker.guardian, os.getpriority(os.PRIO_PROCESS, 0)
    working = {pid for pid, _ in members(guardian)} - {guardian}
    assert {os.getpriority(os.PRIO_PROCESS, it) for it in working} == {min(window + 5, 19)}
    assert os.getpriority(os.PRIO_PROCESS, guardian) == window, "it looks after all of them"
    group = Path(f"/proc/{engine.worker.session}/autogroup")
    if group.exists() and (said := group.read_text().split()):  # else nothing shares by session
        assert said[-2:] == ["nice", "5"]


def test_the_end_does_not_wait_for_a_driver_that_keeps_memory(
    fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_engine, "FREED_S", 0.5)
    looks: list[int] = []

    def look() -> Hardware:
        looks.append(1)
        free = 20 << 30 if len(looks) < 3 else 1 << 30
        card = Gpu("Test card", "nvidia", "CUDA", 24 << 30, free, False, "1.0", usable=True)
        return replace(MACHINE, gpus=(card,))

    installed = replace(make_fake(fake), profile="cuda")
    engine = VllmEngine(
        lambda: installed, tmp_path / "engine", lambda where, _: socket_client(Path(where)), look
    )
    load(engine)
    before = len(looks)
    engine.close()
    assert len(looks) == before
    engine.settle()
    assert len(looks) > before, "who needs the memory waits for it"
    after = len(looks)
    engine.settle()
    assert len(looks) == after
