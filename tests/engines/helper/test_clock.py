"""A time limit counts only a process's own work, even on a busy computer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engines.cancel import CancelToken
from engines.helper import clock
from engines.helper.parent import ProcessResult, run_helper
from tests.support.crowded import CROWDS, crowded
from tests.support.paths import ROOT

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other exit codes")
WORK = "import time\nwhile time.process_time() < {}: pass\nprint('done')"


def run(code: str, limit_s: float) -> ProcessResult:
    return run_helper((sys.executable, "-c", code), "", limit_s, CancelToken())


@CROWDS
def test_work_within_the_limit_comes_to_its_end_on_a_busy_computer() -> None:
    with crowded(3):
        ended = run(WORK.format(1.0), 2.0)
    assert (ended.in_time, ended.out) == (True, b"done\n")


def test_work_beyond_the_limit_is_ended() -> None:
    ended = run("while True: pass", 0.5)
    assert (ended.in_time, ended.stopped) == (False, False)


def test_one_that_does_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "STALLED_S", 0.5)
    assert not run("import time; time.sleep(100)", 0.5).in_time


LIMIT = "from engines.helper.clock import limit_work\n"


def test_a_process_ends_itself_at_its_limit() -> None:
    ended = run(f"{LIMIT}limit_work(0.5)\nwhile True: pass", 60.0)
    assert not ended.in_time
    assert clock.worked_too_long(ended.code)


@POSIX
def test_a_later_limit_takes_the_place_of_an_earlier_one() -> None:
    code = f"{LIMIT}limit_work(1)\nlimit_work(None)\n{WORK.format(2.5)}"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert ended.stdout == b"done\n"
