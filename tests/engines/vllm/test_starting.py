"""A start says what it does and ends at its user’s wish; nobody waits for a worker or a driver."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.net.server_client import socket_client
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.hardware.values import Gpu, Hardware
from engines.types import EngineStatus
from engines.vllm import engine as vllm_engine
from engines.vllm import worker
from engines.vllm.engine import VllmEngine
from tests.engines.vllm.faked import (
    MACHINE,
    PLAN,
    SHORT_GRACE_S,
    behave,
    load,
    make_engine,
    make_fake,
    members,
    until,
)

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only"),
    # httpcore2 does not close a local socket at whose other end nobody listens.
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """The folder of a made environment."""
    return tmp_path / "fake"


@pytest.fixture
def engine(fake: Path, tmp_path: Path) -> Iterator[VllmEngine]:
    engine = make_engine(make_fake(fake), tmp_path / "engine", grace_s=SHORT_GRACE_S)
    yield engine
    engine.close()


class Starting:
    """A load on a thread, which is ended by its user."""

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

    def _run(self) -> None:
        try:
            self._engine.load(PLAN, lambda _: None, self._cancel)
        except Cancelled as error:
            self._ended.append(error)


def test_one_that_waits_for_an_answer_ends_at_once(
    fake: Path, engine: VllmEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_HEALTH_S", 600.0)
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
    monkeypatch.setattr(vllm_engine, "_FREED_S", 0.5)
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
