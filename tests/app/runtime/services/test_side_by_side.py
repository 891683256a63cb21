"""Answers at the same time: from llama.cpp, a real connection and a scripted worker."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.chats.answers.services import in_progress
from app.chats.answers.services.preparing import Prepared
from app.models.library.values.entry import STARTER, STARTER_CHECKPOINT
from app.runtime.values.wait import Wait
from tests.support.desks import Desk, a_desk
from tests.support.houses import CRASH, SERVED, a_house
from tests.support.openai_server import DONE, Body, Reply, chunk

CHAT = "/v1/chat/completions"


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path) -> Iterator[Desk]:
    with a_house(tmp_path) as house, a_desk(house, qtbot, tmp_path) as made:
        yield made


@dataclass
class Told:
    """A server's answer whose pieces are sent one by one, as the test allows."""

    words: list[str]
    more: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def reply(self, _: Body) -> Reply:
        return Reply(self._pieces(), kind="text/event-stream")

    def _pieces(self) -> Iterator[bytes]:
        for word in self.words:
            yield chunk({"content": word})
            self.more.acquire(timeout=30)
        yield chunk({}, "stop")
        yield DONE

    def let(self, count: int = 1) -> None:
        self.more.release(count)


def told(desk: Desk, *words: str) -> Told:
    made = Told(list(words))
    desk.house.server.script(CHAT, made.reply)
    return made


def test_a_server_and_llama_cpp_answer_at_the_same_time(desk: Desk) -> None:
    far = told(desk, "From ", "far.")
    there = desk.ask(SERVED)
    desk.until_text(there)
    here = desk.ask(STARTER)
    desk.until_ended(here)
    assert there not in desk.ended, "it is being written all the while"
    assert desk.waits == []
    far.let(9)
    desk.until_ended(there)
    near, away = desk.saved(here), desk.saved(there)
    assert (near.state, away.state, away.text) == ("complete", "complete", "From far.")
    assert near.text == desk.text[here] != ""
    assert near.facts is not None
    assert away.facts is not None
    assert (near.facts.engine, near.facts.model) == ("llamacpp", "Starter guide")
    assert (away.facts.engine, away.facts.model) == ("remote", "tiny on team")
    assert desk.house.llama.closed == 0


def test_two_answers_of_one_server_come_in_turns_and_one_is_stopped(desk: Desk) -> None:
    first, second = told(desk, "one ", "two ", "three"), told(desk, "eins ", "zwei ", "drei")
    one = desk.ask(SERVED)
    desk.until_text(one)
    two = desk.ask(SERVED)
    desk.until_text(two)
    first.let()
    desk.until(lambda: desk.text[one] == "one two ")
    second.let()
    desk.until(lambda: desk.text[two] == "eins zwei ")
    assert desk.pieces == [one, two, one, two]
    desk.generation.stop(desk.chat_of(one))
    desk.until_ended(one)
    assert two not in desk.ended
    second.let(9)
    desk.until_ended(two)
    first.let(9)
    stopped, whole = desk.saved(one), desk.saved(two)
    assert (stopped.state, stopped.text) == ("stopped", "one two ")
    assert (whole.state, whole.text) == ("complete", "eins zwei drei")


def held(desk: Desk, at_once: int) -> threading.Event:
    """Let the worker answer this many at once.

    Returns:
        An event; the answers pause before their second word until it is set.
    """
    desk.house.worker.says = {"answers_at_once": at_once}
    desk.house.worker.hold = threading.Event()
    return desk.house.worker.hold


def test_a_worker_writes_as_many_as_it_can_and_the_next_says_why_it_waits(desk: Desk) -> None:
    hold = held(desk, 2)
    one, two = desk.ask(STARTER_CHECKPOINT), desk.ask(STARTER_CHECKPOINT)
    desk.until_text(one, two)
    three = desk.ask(STARTER_CHECKPOINT)
    full = Wait("full", "Guide for vLLM", 2)
    desk.until(lambda: desk.generation.waits_for(three) == full)
    four = desk.ask(STARTER)
    desk.until(lambda: desk.generation.waits_for(four) == Wait("queue", count=1))
    desk.generation.stop_answer(three)
    desk.until_ended(three)
    assert desk.saved(three).state == "stopped"
    desk.until(lambda: desk.generation.waits_for(four) == Wait("model", "Guide for vLLM"))
    assert desk.house.worker.closed == 0
    hold.set()
    desk.until_ended(one, two, four)
    assert [desk.saved(it).text for it in (one, two)] == ["Hello there", "Hello there"]
    assert desk.waits[-1] == (four, None)
    facts = [desk.saved(it).facts for it in (one, two, four)]
    assert [it.engine for it in facts if it] == ["vllm", "vllm", "llamacpp"]
    assert desk.generation.waits_for(four) is None
    assert desk.crashed == []


def test_what_is_asked_behind_a_load_is_answered_after_it(desk: Desk) -> None:
    hold = held(desk, 4)
    one = desk.ask(STARTER_CHECKPOINT)
    desk.until_text(one)
    other, late = desk.ask(STARTER), desk.ask(STARTER_CHECKPOINT)
    hold.set()
    desk.until_ended(one, other, late)
    assert (desk.house.worker.closed, len(desk.house.worker.plans)) == (1, 2)
    assert desk.house.llama.closed == 1, "it was loaded between the two"


def test_a_bug_in_one_answer_leaves_the_other_alone(desk: Desk) -> None:
    far = told(desk, "Still ", "here.")
    there = desk.ask(SERVED)
    desk.until_text(there)
    desk.house.worker.error = ZeroDivisionError()
    broken = desk.ask(STARTER_CHECKPOINT)
    desk.until(lambda: bool(desk.crashed))
    assert not desk.generation.is_answering(desk.chat_of(broken))
    far.let(9)
    desk.until_ended(there)
    assert desk.saved(there).text == "Still here."
    desk.house.worker.error = None
    again = desk.ask(STARTER_CHECKPOINT)
    desk.until_ended(again)
    assert desk.saved(again).state == "complete", "nobody holds its place"


def test_after_a_crash_both_conversations_go_on_with_one_restart(desk: Desk) -> None:
    worker, hold = desk.house.worker, held(desk, 2)
    both = desk.ask(STARTER_CHECKPOINT), desk.ask(STARTER_CHECKPOINT)
    desk.until_text(*both)
    worker.error, worker.is_healthy = CRASH, False
    hold.set()
    desk.until_ended(*both)
    for it in both:
        assert (desk.saved(it).state, desk.saved(it).text) == ("failed", "Hello there")
    worker.error, before = None, worker.revived
    hold = worker.hold = threading.Event()
    more = [desk.ask(STARTER_CHECKPOINT, "Go on", desk.chat_of(it)) for it in both]
    desk.until_text(*more)
    assert worker.revived == before + 1
    hold.set()
    desk.until_ended(*more)
    assert [desk.saved(it).state for it in more] == ["complete", "complete"]
    assert len(worker.plans) == 1


def test_many_save_what_they_write_at_the_same_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_progress, "EVERY_S", 0.0)
    monkeypatch.setattr(in_progress, "REST", 0)
    words = [f"{number} " for number in range(40)]
    desk.house.worker.pieces = words
    desk.house.worker.says = {"answers_at_once": 8}
    answers = [desk.ask(STARTER_CHECKPOINT) for _ in range(8)]
    desk.until_ended(*answers)
    assert [desk.saved(it).text for it in answers] == ["".join(words)] * 8
    assert {desk.saved(it).state for it in answers} == {"complete"}


def test_closing_stops_what_is_written_and_what_waits(desk: Desk) -> None:
    held(desk, 1)
    one = desk.ask(STARTER_CHECKPOINT)
    desk.until_text(one)
    two = desk.ask(STARTER_CHECKPOINT)
    desk.until(lambda: desk.generation.waits_for(two) is not None)
    desk.tasks.close()
    assert (desk.saved(one).state, desk.saved(one).text) == ("stopped", "Hello")
    assert (desk.saved(two).state, desk.saved(two).text) == ("stopped", "")


def test_the_order_is_that_of_asking_whichever_thread_is_the_first(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare, slow, calls = desk.house.answers.preparing.prepare, threading.Event(), [0]

    def slow_at_first(*args: Any) -> Prepared:
        calls[0] += 1
        if calls[0] == 1:
            slow.wait(30)
        return prepare(*args)

    monkeypatch.setattr(desk.house.answers.preparing, "prepare", slow_at_first)
    one = desk.ask(STARTER_CHECKPOINT, "first")
    desk.until(lambda: calls == [1])
    two = desk.ask(STARTER_CHECKPOINT, "second")
    desk.until(lambda: desk.generation.waits_for(two) == Wait("queue", count=1))
    slow.set()
    desk.until_ended(one, two)
    asked = [it.messages[-1].text for it in desk.house.worker.requests]
    assert asked == ["first", "second"]


def test_who_waits_for_quiet_is_called_when_the_last_answer_is_saved(desk: Desk) -> None:
    held(desk, 2)
    answers = [desk.ask(STARTER_CHECKPOINT) for _ in range(3)]
    desk.until_text(*answers[:2])
    states: list[list[str]] = []
    desk.generation.stop_all(lambda: states.append([desk.saved(it).state for it in answers]))
    desk.until(lambda: bool(states))
    assert states == [["stopped"] * 3]
    desk.generation.stop_all(lambda: states.append([]))
    assert states[1:] == [[]], "at once, where nothing is at work"


def test_a_server_is_asked_for_four_answers_at_a_time(desk: Desk) -> None:
    words = [told(desk, f"{number} ", "end") for number in range(5)]
    answers = []
    for _ in range(4):
        answers.append(desk.ask(SERVED))
        desk.until_text(answers[-1])
    fifth = desk.ask(SERVED)
    desk.until(lambda: desk.generation.waits_for(fifth) == Wait("full", "tiny on team", 4))
    words[2].let(9)
    desk.until_ended(answers[2])
    desk.until_text(fifth)
    for it in words:
        it.let(9)
    desk.until_ended(*answers, fifth)
    texts = [desk.saved(it).text for it in (*answers, fifth)]
    assert texts == [f"{number} end" for number in range(5)]
