"""Waiting messages: when they are sent automatically, and when they wait for the user."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.base.errors import DiskFull
from app.chats.answers.presenters.waiting import options_as_json, options_from_json
from app.chats.answers.values.answers import AnswerOptions
from app.chats.history.store.waiting import WaitingStore
from engines.errors import EngineFailed
from tests.support.answering import Desk, desk
from tests.support.services import Services


@pytest.fixture
def hold(services: Services) -> threading.Event:
    services.engine.hold = threading.Event()
    return services.engine.hold


@pytest.fixture
def at(qtbot: QtBot, services: Services, tmp_path: Path, hold: threading.Event) -> Iterator[Desk]:
    made = desk(qtbot, services, tmp_path)
    yield made
    hold.set()
    made.tasks.close()


def add(at: Desk, chat_id: str, *texts: str, **options: Any) -> None:
    for text in texts:
        at.waiting.add(chat_id, text, AnswerOptions().changed(**options), at.errors.append)
    at.wait_until_saved()


def test_they_are_sent_one_after_the_other(at: Desk, hold: threading.Event) -> None:
    chat_id = at.begin("one").chat_id
    add(at, chat_id, "two", "three")
    assert at.queued(chat_id) == ["two", "three"]
    assert all(at.waiting.is_going(item) for item in at.waiting.of(chat_id))
    hold.set()
    at.wait_for(3)
    assert at.texts(chat_id)[::2] == ["one", "two", "three"]
    assert at.queued(chat_id) == []
    assert [it.text for it in at.services.engine.requests[-1].messages][::2] == [
        "one", "two", "three",
    ]  # fmt: skip


def test_what_was_chosen_for_a_message_holds_when_it_is_sent(
    at: Desk, hold: threading.Event
) -> None:
    chat_id = at.begin("one").chat_id
    add(at, chat_id, "two", mtp="off", temperature=0.25)
    at.services.chats.set_mtp(chat_id, "on")
    hold.set()
    at.wait_for(2)
    request = at.services.engine.requests[-1]
    assert (request.mtp, request.sampling.temperature) == ("off", 0.25)


@pytest.mark.parametrize("field", [it.name for it in fields(AnswerOptions)])
def test_every_option_is_kept_but_those_of_the_moment(field: str) -> None:
    values: dict[str, Any] = {
        "stop": ("END", "STOP"), "grammar": "root", "collections": ("c1",),
        "settings": {"mtp": "on", "top_k": 3, "model": "m", "overflow": "stop"},
    }  # fmt: skip
    options = AnswerOptions(**{field: values.get(field, 1)})
    kept = options_from_json(options_as_json(options))
    of_the_moment = field in {"anyway", "under", "begins"}
    assert kept == (AnswerOptions() if of_the_moment else options)


def test_what_another_hearth_has_kept_is_left_aside() -> None:
    assert options_from_json('{"mtp": "on", "moon": 1}') == AnswerOptions({"mtp": "on"})


def test_a_stop_lets_them_wait_for_their_user(at: Desk, hold: threading.Event) -> None:
    chat_id = at.begin("one").chat_id
    add(at, chat_id, "two", "three")
    at.generation.stop(chat_id)
    at.wait_for(1)
    at.wait_until_saved()
    assert not at.generation.is_answering(chat_id)
    assert at.queued(chat_id) == ["two", "three"]
    assert not any(at.waiting.is_going(item) for item in at.waiting.of(chat_id))
    hold.set()
    at.ask("between", chat_id)
    at.wait_until_saved()
    assert at.queued(chat_id) == ["two", "three"], "what is held is not sent by another answer"
    at.waiting.send_all(chat_id)
    at.wait_for(4)
    assert at.texts(chat_id)[::2] == ["one", "between", "two", "three"]


def test_a_failure_lets_them_wait_too(at: Desk, hold: threading.Event) -> None:
    chat_id = at.begin("one").chat_id
    add(at, chat_id, "two")
    at.services.engine.error = EngineFailed("It broke.", "So it is.", "Try again.")
    hold.set()
    at.wait_for(1)
    at.wait_until_saved()
    assert at.queued(chat_id) == ["two"]
    assert not at.waiting.is_going(at.waiting.of(chat_id)[0])


def test_a_bug_lets_them_wait_too(at: Desk, hold: threading.Event) -> None:
    chat_id = at.begin("one").chat_id
    add(at, chat_id, "two")
    at.services.engine.error = ZeroDivisionError()
    hold.set()
    at.qtbot.waitUntil(lambda: bool(at.errors))
    at.wait_until_saved()
    assert at.queued(chat_id) == ["two"]
    assert not at.waiting.is_going(at.waiting.of(chat_id)[0])


def test_after_a_restart_they_are_there_and_wait_for_their_user(
    at: Desk, hold: threading.Event, tmp_path: Path
) -> None:
    chat_id = at.begin("one").chat_id
    add(at, chat_id, "two", mtp="off")
    at.generation.stop(chat_id)
    at.wait_for(1)
    at.tasks.close()
    again = desk(at.qtbot, at.services, tmp_path)
    try:
        hold.set()
        (item,) = again.waiting.of(chat_id)
        assert (item.text, again.waiting.is_going(item)) == ("two", False)
        again.ask("other", chat_id)
        again.wait_until_saved()
        assert again.queued(chat_id) == ["two"]
        again.waiting.send_now(item)
        again.wait_for(2)
        assert again.texts(chat_id)[-2] == "two"
        assert at.services.engine.requests[-1].mtp == "off"
    finally:
        again.tasks.close()


def test_one_is_sent_now_and_what_is_written_stops(at: Desk, hold: threading.Event) -> None:
    chat_id = at.begin("one").chat_id
    add(at, chat_id, "two", "three")
    at.waiting.send_now(at.waiting.of(chat_id)[1])
    at.wait_for(1)
    hold.set()
    at.wait_for(3)
    assert at.texts(chat_id)[::2] == ["one", "three", "two"]
    assert [answer.state for answer in at.ended] == ["stopped", "complete", "complete"]


def test_they_can_be_moved_changed_removed_and_brought_back(at: Desk) -> None:
    chat_id = at.begin("one").chat_id
    add(at, chat_id, "two", "three", "four")
    items = at.waiting.of(chat_id)
    at.waiting.move(items[2], -1)
    at.waiting.move(items[0], -1)
    at.waiting.change(items[0], "TWO")
    at.wait_until_saved()
    assert at.queued(chat_id) == ["TWO", "four", "three"]
    put_back = at.waiting.remove(items[2])
    at.wait_until_saved()
    assert at.queued(chat_id) == ["TWO", "three"]
    put_back()
    at.wait_until_saved()
    assert at.queued(chat_id) == ["TWO", "four", "three"]
    assert all(at.waiting.is_going(item) for item in at.waiting.of(chat_id))


def test_one_whose_chat_is_deleted_is_not_sent_and_comes_back_with_it(
    at: Desk, hold: threading.Event
) -> None:
    chat_id = at.begin("one").chat_id
    add(at, chat_id, "two")
    at.services.chats.delete(chat_id)
    hold.set()
    at.wait_for(1)
    at.qtbot.waitUntil(lambda: bool(at.errors))
    assert len(at.services.engine.requests) == 1
    at.services.chats.undelete(chat_id)
    assert at.queued(chat_id) == ["two"]
    assert not at.waiting.is_going(at.waiting.of(chat_id)[0])


def test_one_that_cannot_be_saved_is_handed_back(at: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    chat_id = at.begin("one").chat_id
    monkeypatch.setattr(WaitingStore, "add", full)
    add(at, chat_id, "precious")
    assert [type(error) for error in at.errors] == [DiskFull]


def test_one_that_could_not_be_asked_still_waits(
    at: Desk, hold: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    chat_id = at.begin("one").chat_id
    add(at, chat_id, "precious")
    with monkeypatch.context() as patched:
        patched.setattr(WaitingStore, "send", full)
        hold.set()
        at.qtbot.waitUntil(lambda: bool(at.errors))
    assert at.queued(chat_id) == ["precious"]
    at.waiting.send_all(chat_id)
    at.wait_for(2)
    assert at.texts(chat_id)[::2] == ["one", "precious"]


def test_one_added_in_the_moment_of_the_end_is_sent(at: Desk, hold: threading.Event) -> None:
    hold.set()
    chat_id = at.ask("one").chat_id
    at.waiting.add(chat_id, "two", AnswerOptions(), at.errors.append)
    at.wait_for(2)
    assert at.texts(chat_id)[::2] == ["one", "two"]
