"""A helper process that carries out orders one after the other, within limits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from engines.cancel import CancelToken
from engines.helper import clock
from engines.helper.parent import ProcessResult
from engines.helper.serving import ServingHelper

CODE = """
import os, time
from engines.helper.child import begin_serving
say, orders = begin_serving()
print("this goes to standard error")
for order in orders:
    if order == "end":
        os._exit(3)
    if order == "sleep":
        time.sleep(600)
    if order == "grow":
        held = bytearray(300 << 20)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(600)
    say({"heard": order})
    if order == "much":
        for _ in range(100):
            say("x" * 1000)
    say({"process": os.getpid()})
"""
COMMAND = (sys.executable, "-c", CODE)


@pytest.fixture
def helper() -> Iterator[ServingHelper]:
    with closing(ServingHelper(COMMAND)) as helper:
        yield helper


def ask(
    helper: ServingHelper, order: str, limit_s: float = 60.0, out: int = 1 << 20
) -> ProcessResult:
    return helper.ask(order, limit_s, CancelToken(), 200 << 20, out)


def test_one_process_answers_many_orders(helper: ServingHelper) -> None:
    answers = [
        [json.loads(line) for line in ask(helper, order).out.splitlines()]
        for order in ("one", "zwei ü", "", "much")
    ]
    assert [it[0]["heard"] for it in answers] == ["one", "zwei ü", "", "much"]
    assert len({it[-1]["process"] for it in answers}) == 1
    assert len(answers[-1]) == 102
    assert helper.alive
    assert helper.resident_bytes() > 1 << 20


def test_an_order_that_ends_the_process_says_so(helper: ServingHelper) -> None:
    ended = ask(helper, "end")
    assert (ended.code, ended.out, helper.alive) == (3, b"", False)
    assert "this goes to standard error" in ended.err


def test_an_order_that_takes_too_long_ends_the_process(
    helper: ServingHelper, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(helper, "one").in_time
    monkeypatch.setattr(clock, "STALLED_S", 0.5)
    assert not ask(helper, "sleep", 0.5).in_time
    assert not helper.alive


def test_an_order_that_takes_too_much_memory_ends_the_process(helper: ServingHelper) -> None:
    ended = ask(helper, "grow")
    assert ended.too_much
    assert not helper.alive


def test_an_answer_that_is_too_long_ends_the_process(helper: ServingHelper) -> None:
    assert ask(helper, "much", out=5000).too_much
    assert not helper.alive


def test_a_cancel_ends_the_process(helper: ServingHelper) -> None:
    cancel = CancelToken()
    cancel.cancel()
    assert helper.ask("sleep", 600.0, cancel, 1 << 30, 1 << 20).out == b""
    assert not helper.alive


def test_one_that_ended_between_two_orders_answers_none(helper: ServingHelper) -> None:
    ask(helper, "end")
    ended = ask(helper, "one")
    assert (ended.out, ended.in_time) == (b"", True)
