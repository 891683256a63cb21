"""Commands that run to their end, are cancelled, and run one at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.vllm.provision.child import CommandFailed, run
from engines.vllm.provision.exclusive import exclusive
from tests.support.paths import ROOT
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these run inside WSL2 there")


def is_held(root: Path) -> bool:
    """Return whether a process is working on a folder."""
    at_once = CancelToken()
    at_once.cancel()
    try:
        with exclusive(root, lambda: None, at_once):
            return False
    except Cancelled:
        return True


def runs(pid: int) -> bool:
    """Return whether a process runs. A zombie does not: only the first process waits for it."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_both_streams_are_heard() -> None:
    heard: list[str] = []
    code = "import sys; print('one', flush=True); print('two', file=sys.stderr)"
    assert run(python(code), os.environ, CancelToken(), on_line=heard.append) == ("one", "two")
    assert heard == ["one", "two"]


def test_it_sees_only_what_it_is_given() -> None:
    code = "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}))"
    assert run(python(code), {"ONE": "1"}, CancelToken()) == ("['ONE']",)


def test_a_failure_has_its_last_words() -> None:
    with pytest.raises(CommandFailed) as caught:
        run(python("print('so it is'); print(); raise SystemExit(3)"), os.environ, CancelToken())
    assert (caught.value.status, caught.value.last) == (3, "so it is")


def test_what_cannot_be_started_says_so() -> None:
    with pytest.raises(FileNotFoundError):
        run(["/there/is/no/such"], os.environ, CancelToken())


def test_a_cancel_ends_it_and_what_it_has_started(tmp_path: Path) -> None:
    place = tmp_path / "pid"
    code = (
        "import subprocess, sys, time, pathlib\n"
        "it = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(place)!r}).write_text(str(it.pid))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)"
    )
    cancel = CancelToken()

    def heard(line: str) -> None:
        threading.Thread(target=cancel.cancel).start()

    with pytest.raises(Cancelled):
        run(python(code), os.environ, cancel, on_line=heard)
    grandchild = int(place.read_text())
    until(lambda: not runs(grandchild))


def test_cancelled_beforehand_it_ends_at_once() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        run(python("import time; time.sleep(60)"), os.environ, cancel)


def test_one_at_a_time(tmp_path: Path) -> None:
    order: list[str] = []
    second = threading.Event()

    def other() -> None:
        with exclusive(tmp_path, second.set, CancelToken()):
            order.append("second")

    with exclusive(tmp_path, lambda: None, CancelToken()):
        assert is_held(tmp_path)
        thread = threading.Thread(target=other)
        thread.start()
        assert second.wait(60)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert not is_held(tmp_path)


def test_waiting_can_be_cancelled(tmp_path: Path) -> None:
    cancel = CancelToken()
    with (
        exclusive(tmp_path, lambda: None, CancelToken()),
        pytest.raises(Cancelled),
        exclusive(tmp_path, cancel.cancel, cancel),
    ):
        pass


def test_a_child_that_outlives_its_parent_keeps_others_out(tmp_path: Path) -> None:
    """uv does this when Hearth is killed: it must not write into the next installation."""
    code = (
        "import os, signal, subprocess, sys\n"
        "from pathlib import Path\n"
        "from engines.cancel import CancelToken\n"
        "from engines.vllm.provision.exclusive import exclusive\n"
        f"with exclusive(Path({str(tmp_path)!r}), lambda: None, CancelToken()) as holding:\n"
        "    it = subprocess.Popen([sys.executable, '-c', 'input()'], pass_fds=[holding])\n"
        "    print(it.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with subprocess.Popen(
        python(code), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.wait()
        assert is_held(tmp_path)
        assert parent.stdin is not None
        parent.stdin.close()
        until(lambda: not is_held(tmp_path))
    assert not runs(child)
