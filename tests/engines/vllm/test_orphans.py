"""Every descendant of a worker is known by its mark, even if nobody has counted it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.errors import EngineError
from engines.vllm import supervised
from engines.vllm.engine import VllmEngine
from engines.vllm.leftovers import reap, write_record
from engines.vllm.marks import marked, new_mark, variables
from engines.vllm.processes import Process, process, processes
from engines.vllm.scratch import runs_folder
from tests.engines.vllm.faked import (
    SHORT_GRACE_S,
    behave,
    gone,
    guardian_under,
    load,
    make_engine,
    make_fake,
    started_in,
)
from tests.support.paths import ROOT
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
    installed = make_fake(fake, orphan=True, deserts=True, obstinate=True, hold="loading")
    engine = make_engine(installed, tmp_path / "engine", grace_s=SHORT_GRACE_S)
    yield engine
    engine.close()


# In that time the guardian and the whole tree start, one process after another.
@pytest.mark.parametrize("pause_s", [0.05 * number for number in range(12)])
def test_a_guardian_killed_at_any_moment(
    engine: VllmEngine, fake: Path, tmp_path: Path, pause_s: float
) -> None:
    caught: list[EngineError] = []

    def start() -> None:
        try:
            load(engine)
        except EngineError as error:
            caught.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    until(lambda: engine.worker is not None and engine.worker.guardian)
    assert engine.worker is not None
    guardian = engine.worker.guardian
    time.sleep(pause_s)
    os.kill(guardian, signal.SIGKILL)
    thread.join()
    assert caught
    assert started_in(fake) == [], "a start has failed when nothing is left of it"
    assert list(runs_folder(tmp_path / "engine").iterdir()) == []


@pytest.mark.parametrize("pause_s", [0.0, 0.1, 0.2, 0.3, 0.5])
def test_hearth_and_its_guardian_killed_at_any_moment(
    engine: VllmEngine, fake: Path, tmp_path: Path, pause_s: float
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.engines.vllm.app_alone",
         str(fake), str(tmp_path / "engine"), "false"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as app:  # fmt: skip
        until(lambda: guardian_under(app.pid))
        guardian = guardian_under(app.pid)
        time.sleep(pause_s)
        app.send_signal(signal.SIGSTOP)
        os.kill(guardian, signal.SIGKILL)
        app.kill()
    until(lambda: process(guardian) is None)
    left = {it.key for it in started_in(fake)}
    behave(fake)
    load(engine)
    assert gone(left)
    engine.close()
    assert started_in(fake) == []


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Yield a list of processes, and end them after the test."""
    found: list[subprocess.Popen[bytes]] = []
    yield found
    for it in found:
        it.kill()
        it.wait()


def test_only_who_carries_the_mark_is_ended(
    tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    def start(**environment: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(["sleep", "600"], env=environment, start_new_session=True))
        until(lambda: process(started[-1].pid) and running(started[-1].pid) == b"sleep")
        return started[-1]

    mark = new_mark()
    ((name, _), *others) = variables(mark).items()
    strangers = [
        start(),
        start(**dict(others)),
        start(**{name: new_mark()}),
        start(**{name: ""}),
        start(**{name: mark + "0"}),
        start(**{name: mark[:-1]}),
        start(**{f"A_{name}": mark}),
        start(OTHER=f"{name}={mark}"),
        start(OTHER=mark),
    ]
    own = start(**variables(mark))
    assert [it.pid for it in marked(mark, processes())] == [own.pid]
    me = process(os.getpid())
    assert me is not None
    dead = Process(me.pid, me.started - 1, 1, me.session)
    write_record(tmp_path / "left.json", dead, mark, 0, (), str(tmp_path / "none"))
    assert reap(tmp_path) == 1
    assert own.wait() == -signal.SIGKILL
    assert [it.poll() for it in strangers] == [None] * len(strangers)
    assert list(tmp_path.iterdir()) == []


def running(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]


def test_another_user_s_process_is_no_worker_s(
    monkeypatch: pytest.MonkeyPatch, started: list[subprocess.Popen[bytes]]
) -> None:
    mark = new_mark()
    started.append(subprocess.Popen(["sleep", "600"], env=variables(mark)))
    until(lambda: marked(mark, processes()))
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert marked(mark, processes()) == []


def test_a_number_that_is_used_again_is_not_ended(started: list[subprocess.Popen[bytes]]) -> None:
    from engines.vllm.processes import send_signal

    started.append(subprocess.Popen(["sleep", "600"]))
    its = process(started[-1].pid)
    assert its is not None
    send_signal([Process(its.pid, its.started - 1, its.parent, its.session)], signal.SIGKILL)
    assert started[-1].poll() is None
    send_signal([its], signal.SIGKILL)
    assert started[-1].wait() == -signal.SIGKILL


def test_without_a_record_nothing_is_started(
    engine: VllmEngine, fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker whose mark is not recorded could not be found again."""
    monkeypatch.setattr(supervised, "record_of", lambda _: tmp_path / "none/it.json")
    with pytest.raises(EngineError):
        load(engine)
    assert not list(fake.glob("starting.*"))
    assert list(runs_folder(tmp_path / "engine").iterdir()) == []
