"""Ctrl-C in the terminal, with real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from app.kit.terminal.interrupt import ending_at_once, interruptible
from engines.cancel import CancelToken
from engines.errors import Cancelled

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows cannot signal one process alone")


def test_what_is_yielded_after_ctrl_c_comes_through() -> None:
    def work(cancel: CancelToken) -> Iterator[str]:
        yield "begun"
        while not cancel.cancelled:
            pass
        yield "stopped"

    seen: list[str] = []

    def read() -> None:
        for item in interruptible(work):
            seen.append(item)
            if item == "begun":
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        read()
    assert seen == ["begun", "stopped"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_load_that_ctrl_c_ended_is_an_interrupt() -> None:
    def work(cancel: CancelToken) -> Iterator[str]:
        yield "loading"
        os.kill(os.getpid(), signal.SIGINT)
        while not cancel.cancelled:
            pass
        raise Cancelled

    with pytest.raises(KeyboardInterrupt):
        list(interruptible(work))


def test_an_error_comes_out_and_an_abandoned_answer_is_cancelled() -> None:
    def broken(_: CancelToken) -> Iterator[str]:
        yield "one"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(interruptible(broken))

    tokens = []

    def endless(cancel: CancelToken) -> Iterator[str]:
        tokens.append(cancel)
        while not cancel.cancelled:
            yield "more"

    events = interruptible(endless)
    next(events)
    events.close()
    assert tokens[0].cancelled


def test_ctrl_c_while_modules_are_loaded_ends_the_process() -> None:
    script = (
        "import os, signal\n"
        "from app.kit.terminal.interrupt import ending_at_once\n"
        "with ending_at_once():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt as error:\n"
        "        raise SyntaxError from error\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, b"")
    with ending_at_once():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
