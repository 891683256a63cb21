"""Processes of this computer, and those that cannot be ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from engines.vllm.processes import computed_s, kill, process
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


def test_who_may_not_be_ended_is_told_and_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    me = process(os.getpid())
    assert me is not None
    monkeypatch.setattr(os, "kill", refuse)
    monkeypatch.setattr(signal, "pidfd_send_signal", refuse)
    assert not kill(lambda: [me], limit_s=0.1)


@pytest.mark.parametrize(("inside", "busy"), [("while True: pass", True), ("input()", False)])
def test_what_a_session_has_computed_without_its_first_process(inside: str, busy: bool) -> None:
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {inside!r}])"
    first = subprocess.Popen(
        [sys.executable, "-S", "-c", script], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        while computed_s(first.pid) is None:
            assert first.poll() is None
        began = computed_s(first.pid)
        while busy and (now := computed_s(first.pid)) is not None and now < 0.3:
            assert first.poll() is None
        assert began is not None
    finally:
        os.killpg(first.pid, 9)
        first.communicate()
    until(lambda: computed_s(first.pid) is None)
