"""The environment and the limits of a helper process."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from engines.cancel import CancelToken
from engines.errors import ModelRefused
from engines.helper import parent
from engines.helper.clock import WorkClock
from engines.helper.parent import run_helper
from engines.llamacpp.probe import Probe
from engines.types import LlamaPlan
from tests.support.waiting import until

TELL = "import json, os; print(json.dumps(dict(os.environ)))"


def test_the_users_tokens_stay_in_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HEARTH_TEST"):
        monkeypatch.setenv(name, "kept to ourselves")
    ended = run_helper((sys.executable, "-c", TELL), "", 30.0, CancelToken())
    held = json.loads(ended.out)
    assert {name for name in held if held[name] == "kept to ourselves"} == {"HEARTH_TEST"}


@pytest.fixture
def alert(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check ten times a second for a stopped process, instead of once."""
    monkeypatch.setattr(parent, "CHECK_S", 0.1)


@pytest.fixture
def impatient(alert: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a stopped process up after half a second, instead of twenty."""
    monkeypatch.setattr(parent, "STOPPED_S", 0.5)


STOP = "import os, signal, sys; print('begun', flush=True); os.kill(os.getpid(), signal.SIGSTOP)"
STOPS = pytest.mark.skipif(os.name == "nt", reason="Windows stops no process")


@STOPS
def test_one_that_is_stopped_is_given_up(impatient: None) -> None:
    began = time.monotonic()
    ended = run_helper((sys.executable, "-c", STOP), "", 600.0, CancelToken())
    assert (ended.in_time, ended.stopped) == (False, True)
    assert ended.out == b"begun\n"
    assert time.monotonic() - began < 60


@STOPS
def test_one_that_is_let_go_on_comes_to_its_end(
    alert: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[bool] = []
    is_over = WorkClock.is_over

    def look(clock: WorkClock) -> bool:
        looks.append(is_over(clock))
        return looks[-1]

    monkeypatch.setattr(WorkClock, "is_over", look)
    code = (
        "import os, pathlib, signal, sys\n"
        "pathlib.Path(sys.argv[1]).write_text(str(os.getpid()) + '.')\n"
        "os.kill(os.getpid(), signal.SIGSTOP); print('over')"
    )
    told = tmp_path / "pid"

    def let_go() -> None:
        until(lambda: told.exists() and told.read_text().endswith("."))
        process = psutil.Process(int(told.read_text()[:-1]))
        until(lambda: process.status() == psutil.STATUS_STOPPED)
        before = len(looks)
        until(lambda: len(looks) > before + 2)  # it was seen stopped several times
        process.resume()

    thread = threading.Thread(target=let_go)
    thread.start()
    ended = run_helper((sys.executable, "-c", code), str(told), 60.0, CancelToken())
    thread.join()
    assert (ended.in_time, ended.stopped, ended.out) == (True, False, b"over\n")


@STOPS
def test_twenty_seconds_are_given_to_one_that_is_stopped() -> None:
    assert parent.STOPPED_S == 20.0


@STOPS
def test_a_file_whose_trial_is_stopped_is_refused_for_now(impatient: None, tmp_path: Path) -> None:
    from tests.engines.gguf_files import write_llama

    plan = LlamaPlan(write_llama(tmp_path / "m.gguf"), 512, 1, 1)
    probe = Probe(tmp_path, command=(sys.executable, "-c", STOP))
    with pytest.raises(ModelRefused, match="stopped"):
        probe.require_safe(plan, CancelToken())
    assert not (tmp_path / "probed.json").exists(), "it was remembered"
