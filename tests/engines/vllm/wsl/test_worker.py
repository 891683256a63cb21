"""A worker in the Linux of a Windows: it answers, and no process of it outlives its users.

It runs through a stand-in for wsl.exe, and on a server like vLLM.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError, EngineFailed, EngineUnavailable
from engines.types import TextDelta
from engines.vllm import streams, worker
from engines.vllm.engine import VllmEngine
from engines.vllm.processes import Process, process, processes, send_signal
from engines.vllm.provision.home import Installed
from engines.vllm.scratch import runs_folder
from engines.vllm.wsl.distribution import Distribution
from engines.vllm.wsl.host import WslHost
from tests.engines.vllm.faked import (
    PLAN,
    SHORT_GRACE_S,
    answer,
    behave,
    gone,
    let_look,
    load,
    make_engine_inside,
    make_fake,
    members,
    question,
    started_in,
    tree,
)
from tests.support.paths import ROOT
from tests.support.suite import sampled
from tests.support.waiting import until
from tests.support.wsl.windows import Windows, words_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stand-in is for Linux")


@pytest.fixture
def windows(tmp_path: Path) -> Windows:
    return Windows(tmp_path / "windows")


@pytest.fixture
def linux(windows: Windows) -> Path:
    """Return the home in the distribution."""
    return windows.add()


@pytest.fixture
def fake(linux: Path) -> Path:
    """Return the folder of a made environment there."""
    folder = linux / "environment"
    make_fake(folder)
    return folder


@pytest.fixture
def engine(windows: Windows, fake: Path, tmp_path: Path) -> Iterator[VllmEngine]:
    installed = Installed("0.32.0", "cpu", fake, linux="Ubuntu")
    engine = make_engine_inside(
        windows.program, installed, tmp_path / "engine", grace_s=SHORT_GRACE_S
    )
    yield engine
    engine.close()


def kept(linux: Path) -> list[Path]:
    """Return the files of workers on the disk of the Linux: records and scratch folders."""
    runs = runs_folder(linux / ".local/share/hearth/engines/vllm-worker")
    return list(runs.iterdir()) if runs.exists() else []


def guardian_of(session: int) -> int:
    """Return its number; Hearth itself only knows that of wsl.exe."""
    first = process(session)
    assert first is not None
    return first.parent


def test_it_answers_through_a_port_with_a_key(
    engine: VllmEngine, windows: Windows, fake: Path, linux: Path, tmp_path: Path
) -> None:
    load(engine)
    assert answer(engine, max_tokens=3) == " word0 word1 word2"
    assert engine.worker is not None
    assert engine.worker.in_wsl
    status = engine.status()
    assert (status.elsewhere, status.process) == (True, 0), "its number is another program's here"
    words, environment = json.loads((fake / "words.json").read_text())
    assert "--uds" not in words
    assert words[words.index("--port") + 1] == str(engine.worker.place.port)
    key = environment["VLLM_API_KEY"]
    assert len(key) > 30
    assert not [word for it in processes() for word in words_at(it.pid) if key in word]
    assert environment["HOME"] == str(linux)
    assert environment["VLLM_CACHE_ROOT"].startswith(str(linux / ".local/share/hearth/engines"))
    assert "KV cache size" in (tmp_path / "engine" / "vllm.log").read_text()
    assert [it.name for it in linux.iterdir() if it.name != "environment"] == [".local"]


def test_close_ends_all_of_it_and_clears_up(engine: VllmEngine, fake: Path, linux: Path) -> None:
    behave(fake, orphan=True)
    load(engine)
    assert engine.worker is not None
    guardian = guardian_of(engine.worker.session)
    until(lambda: len(members(guardian)) == 5)
    everything = members(guardian)
    engine.close()
    assert gone(everything), "close returns when they are gone"
    assert kept(linux) == []


# Each phase with the app killed, and each victim with a worker that obeys and one that does not.
@pytest.mark.parametrize(
    ("victim", "phase"),
    sampled(
        [
            ("hearth", "starting"), ("hearth", "loading"), ("hearth", "ready"),
            ("hearth", "streaming"), ("wsl.exe", "loading"), ("wsl.exe", "streaming"),
            ("both", "starting"), ("both", "loading"), ("guardian", "loading"),
            ("guardian", "streaming"),
        ],
        [("hearth", "loading"), ("wsl.exe", "streaming"), ("both", "starting"),
         ("guardian", "streaming")],
    ),
)  # fmt: skip
def test_a_killed_process_takes_the_tree_along(
    windows: Windows, fake: Path, linux: Path, tmp_path: Path, victim: str, phase: str
) -> None:
    hold = {"hold": phase} if phase in {"starting", "loading"} else {}
    pace = 0.02 if phase == "streaming" else 0.0
    behave(fake, orphan=True, obstinate=phase == "loading", token_s=pace, **hold)
    words = [str(fake), str(tmp_path / "engine"), "false", str(windows.program)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.engines.vllm.app_alone", *words],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as app:
        assert app.stdout is not None
        assert app.stdin is not None
        if phase == "streaming":
            app.stdin.write("go on\n")
            app.stdin.flush()
        session = _reached(app.stdout.readline, phase)
        if hold:
            until(lambda: list(fake.glob(f"{phase}.*")))
        guardian = guardian_of(session)
        until(lambda: len(members(guardian)) >= (2 if phase == "starting" else 5))
        if phase != "starting":
            until(lambda: noted(guardian, linux) == 4)
        everything = members(guardian)
        through = windows.through("guard")
        named = tree(session, guardian) | {"wsl.exe": through}
        if victim in {"hearth", "both"}:
            app.kill()
        if victim != "hearth":
            send_signal([named["wsl.exe" if victim == "both" else victim]], signal.SIGKILL)
        until(lambda: gone(everything), 30)
        until(lambda: gone({through.key}))
        app.stdin.close()
        app.wait(60)
    until(lambda: not kept(linux) or victim == "guardian")


@pytest.mark.parametrize("number", range(4))
def test_a_guardian_killed_at_any_moment(
    engine: VllmEngine, fake: Path, linux: Path, tmp_path: Path, number: int
) -> None:
    """Some of the processes that the worker has started could not be counted."""
    behave(fake, orphan=True, deserts=True, obstinate=True, hold="loading")
    caught: list[EngineError] = []

    def start() -> None:
        try:
            load(engine)
        except EngineError as error:
            caught.append(error)

    def guardians() -> list[Process]:
        (pack,) = (tmp_path / "hands").glob("*.pyz")
        return [it for it in processes() if {"-I", str(pack), "guard"} <= words_at(it.pid)]

    thread = threading.Thread(target=start)
    thread.start()
    until(lambda: engine.worker is not None and guardians())
    time.sleep(number / 5)
    send_signal(guardians(), signal.SIGKILL)
    thread.join()
    assert caught
    assert started_in(fake) == []
    assert kept(linux) == []


def _reached(read: object, phase: str) -> int:
    """Return the session of the worker as soon as it reaches a phase or waits in one."""
    session = 0
    while not session or phase in {"ready", "streaming"}:
        said = json.loads(read())  # type: ignore[operator]
        if isinstance(said, list):
            session = said[0]
        if said == phase:
            break
    return session


@pytest.mark.parametrize("victim", ["wsl.exe", "guardian", "core"])
def test_the_next_message_starts_it_anew(
    engine: VllmEngine, windows: Windows, fake: Path, linux: Path, victim: str
) -> None:
    behave(fake, orphan=True, token_s=0.02)
    load(engine)
    assert engine.worker is not None
    guardian = guardian_of(engine.worker.session)
    until(lambda: noted(guardian, linux) == 4)
    everything = members(guardian)
    events = engine.chat(question(max_tokens=300), CancelToken())
    next(event for event in events if isinstance(event, TextDelta))
    named = tree(engine.worker.session, guardian) | {"wsl.exe": windows.through("guard")}
    os.kill(named[victim].pid, signal.SIGKILL)
    with pytest.raises(EngineFailed) as caught:
        list(events)
    assert "Ask again" in caught.value.do
    behave(fake)
    assert answer(engine, max_tokens=2) == " word0 word1"
    assert gone(everything), "a crash is over when nothing is left of it"


def test_what_a_killed_pair_leaves_is_ended_at_the_next_start(
    engine: VllmEngine, windows: Windows, fake: Path, linux: Path, tmp_path: Path
) -> None:
    """Hearth and its guardian are killed at once, and the worker does not obey."""
    behave(fake, orphan=True, obstinate=True, hold="loading")
    words = [str(fake), str(tmp_path / "other"), "false", str(windows.program)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.engines.vllm.app_alone", *words],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as app:
        assert app.stdout is not None
        session = _reached(app.stdout.readline, "loading")
        guardian = guardian_of(session)
        until(lambda: "worker" in tree(session, guardian))
        until(lambda: len(json.loads(_record(linux).read_text())["members"]) >= 4)
        everything = members(guardian)
        app.send_signal(signal.SIGSTOP)
        os.kill(guardian, signal.SIGKILL)
        app.kill()
    until(lambda: process(guardian) is None)
    assert not gone(everything), "it ignores what the system told it"
    behave(fake)
    load(engine)
    assert gone(everything)
    assert answer(engine, max_tokens=1) == " word0"


def noted(guardian: int, linux: Path) -> int:
    """Count the worker's processes in its record, after its guardian has just looked."""
    let_look(guardian)
    return len(json.loads(_record(linux).read_text())["members"])


def _record(linux: Path) -> Path:
    until(lambda: [it for it in kept(linux) if it.suffix == ".json"])
    return next(it for it in kept(linux) if it.suffix == ".json")


def test_where_the_end_does_not_come_through_silence_tells_it(
    engine: VllmEngine, linux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This happens if something between wsl.exe and its Linux keeps the pipe open."""
    monkeypatch.setattr(streams, "BEAT_S", 0.1)
    monkeypatch.setattr(WslHost, "silence_s", 4.0)
    load(engine)
    assert engine.worker is not None
    everything = members(guardian_of(engine.worker.session))
    monkeypatch.setattr(streams, "BEAT_S", 600.0)
    until(lambda: gone(everything))
    until(lambda: kept(linux) == [])


def test_beats_keep_it_alive(engine: VllmEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    # Between two beats the guardian checks the age of the last one.
    monkeypatch.setattr(streams, "BEAT_S", 0.2)
    monkeypatch.setattr(WslHost, "silence_s", 4.0)
    load(engine)
    loaded = time.monotonic()
    running = engine.worker
    assert running is not None
    until(lambda: running.has_ended or time.monotonic() > loaded + 5.0)
    assert not running.has_ended
    assert answer(engine, max_tokens=1) == " word0"


def test_a_load_can_be_cancelled(engine: VllmEngine, fake: Path, linux: Path) -> None:
    behave(fake, hold="loading")
    cancel = CancelToken()

    def stop() -> None:
        until(lambda: list(fake.glob("loading.*")))
        cancel.cancel()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(Cancelled):
        engine.load(PLAN, lambda _: None, cancel)
    thread.join()
    assert kept(linux) == []


def test_a_linux_that_is_gone_is_said(engine: VllmEngine, windows: Windows) -> None:
    windows.change(distributions={"Ubuntu": {"version": 2, "broken": True}})
    with pytest.raises(EngineUnavailable) as caught:
        load(engine)
    assert "Ubuntu" in caught.value.what
    assert "E_FAIL" in caught.value.why


def test_a_guardian_that_does_not_start_says_why(
    engine: VllmEngine, linux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words of wsl.exe are then not taken as a message from the guardian."""
    right = Distribution.guardian

    def wrong(it: Distribution) -> subprocess.Popen[bytes]:
        return right(replace(it, name="Nowhere"))

    monkeypatch.setattr(Distribution, "guardian", wrong)
    with pytest.raises(EngineFailed) as caught:
        load(engine)
    assert "E_FAIL" in caught.value.why
    assert kept(linux) == []


def test_an_environment_without_its_python_leaves_nothing_behind(
    engine: VllmEngine, fake: Path, linux: Path
) -> None:
    (fake / "bin" / "python").unlink()
    with pytest.raises(EngineError) as caught:
        load(engine)
    assert "No such file" in caught.value.why
    assert kept(linux) == []


def test_what_its_log_says_is_the_error(engine: VllmEngine, fake: Path) -> None:
    behave(fake, fails=["(EngineCore pid=7) ValueError: No available memory for the cache blocks."])
    with pytest.raises(EngineError) as caught:
        load(engine)
    assert caught.value.code == "memory"


def test_one_that_windows_does_not_reach_is_given_up(
    engine: VllmEngine, linux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It serves, but its port is not forwarded."""
    monkeypatch.setattr(worker, "REACH_S", 0.5)
    monkeypatch.setattr(worker, "is_healthy", lambda _: False)
    with pytest.raises(EngineFailed) as caught:
        load(engine)
    assert "localhostForwarding" in caught.value.do
    assert kept(linux) == []
