"""Moving between branches and making new ones, also while answers are written."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.errors import DiskFull
from app.chats.answers.values.answer_record import from_json
from app.chats.answers.values.answers import AnswerOptions
from app.chats.history.store.branches import BranchStore
from app.chats.history.values.tree import RemovedMessage
from tests.support.answering import Desk, desk
from tests.support.services import Services


@pytest.fixture
def at(qtbot: QtBot, services: Services, tmp_path: Path) -> Iterator[Desk]:
    made = desk(qtbot, services, tmp_path)
    yield made
    made.tasks.close()


def test_another_wording_in_the_middle_is_answered_on_a_branch_of_its_own(at: Desk) -> None:
    chat_id = at.ask("one").chat_id
    at.ask("two", chat_id)
    at.ask("three", chat_id)
    path = at.services.chats.path(chat_id)
    at.branches.ask_instead(
        path[2], "two, better", AnswerOptions({"mtp": "off"}), lambda _: None, at.errors.append
    )
    at.wait_for(4)
    assert at.texts(chat_id) == ["one", "Hello there", "two, better", "Hello there"]
    request = at.services.engine.requests[-1]
    assert [it.text for it in request.messages] == ["one", "Hello there", "two, better"]
    assert request.mtp == "off"
    assert at.branches.forks(chat_id, [path[2].id])[path[2].id].ids[0] == path[2].id


def test_the_answer_to_what_is_replaced_is_stopped_and_kept(at: Desk) -> None:
    at.services.engine.hold = threading.Event()
    answer = at.begin("one")
    question = at.services.chats.path(answer.chat_id)[0]
    at.branches.ask_instead(question, "other", AnswerOptions(), at.told.append, at.errors.append)
    at.wait_for(1)
    assert (at.ended[0].id, at.ended[0].state, at.ended[0].text) == (answer.id, "stopped", "Hello")
    at.services.engine.hold.set()
    at.wait_for(2)
    assert at.texts(answer.chat_id) == ["other", "Hello there"]


def test_a_branch_is_left_while_it_is_written_and_has_all_of_it_later(at: Desk) -> None:
    chat_id = at.ask("one").chat_id
    first = at.services.chats.path(chat_id)[1]
    at.services.engine.hold = threading.Event()
    begun: list[str] = []
    at.generation.text.connect(lambda answer_id, _: begun.append(answer_id))
    at.branches.answer_again(first, AnswerOptions(), at.errors.append)
    at.qtbot.waitUntil(lambda: bool(begun))
    switched: list[tuple[str, str]] = []
    at.branches.switched.connect(lambda chat, message: switched.append((chat, message)))
    at.branches.go(chat_id, first.id)
    at.qtbot.waitUntil(lambda: bool(switched))
    assert switched == [(chat_id, first.id)]
    assert at.services.chats.path(chat_id)[-1].id == first.id
    at.services.engine.hold.set()
    at.wait_for(2)
    assert at.services.chats.path(chat_id)[-1].id == first.id, "what is shown stays"
    at.branches.go(chat_id, begun[0])
    at.qtbot.waitUntil(lambda: len(switched) == 2)
    assert at.texts(chat_id) == ["one", "Hello there"]
    assert at.services.chats.path(chat_id)[-1].id == begun[0]


def test_a_wording_on_one_branch_lets_the_answer_on_another_be(at: Desk) -> None:
    chat_id = at.ask("one").chat_id
    first = at.services.chats.path(chat_id)[1]
    at.ask("two", chat_id)
    second = at.services.chats.path(chat_id)[2]
    at.services.engine.hold = threading.Event()
    at.branches.answer_again(first, AnswerOptions(), at.errors.append)
    at.qtbot.waitUntil(lambda: at.generation.is_answering(chat_id))
    at.branches.ask_instead(
        second, "two, better", AnswerOptions(), lambda _: None, at.errors.append
    )
    at.qtbot.waitUntil(lambda: len(at.generation.answering(chat_id)) == 2)
    at.services.engine.hold.set()
    at.wait_for(4)
    assert [answer.state for answer in at.ended] == ["complete"] * 4


def test_one_comes_back_to_where_one_was_on_a_branch(at: Desk) -> None:
    chat_id = at.ask("one").chat_id
    first = at.services.chats.path(chat_id)[1]
    at.ask("two", chat_id)
    older = at.services.chats.path(chat_id)[-1]
    at.branches.ask_instead(
        at.services.chats.path(chat_id)[2],
        "two, better",
        AnswerOptions(),
        at.told.append,
        at.errors.append,
    )
    at.wait_for(3)
    at.branches.go(chat_id, older.id)
    at.branches.answer_again(first, AnswerOptions(), at.errors.append)
    at.wait_for(4)
    at.branches.go(chat_id, first.id)
    at.wait_until_saved()
    assert at.services.chats.path(chat_id)[-1].id != older.id, "it was left by answering, not by go"
    at.branches.go(chat_id, older.id)
    at.branches.go(chat_id, at.ended[-1].id)
    at.branches.go(chat_id, first.id)
    at.wait_until_saved()
    assert at.services.chats.path(chat_id)[-1].id == older.id


def test_deleting_stops_what_is_written_below_and_undo_brings_the_view_back(at: Desk) -> None:
    chat_id = at.ask("one").chat_id
    at.services.engine.hold = threading.Event()
    answer = at.begin("two", chat_id)
    before = [message.id for message in at.services.chats.path(chat_id)]
    removed: list[RemovedMessage] = []
    at.branches.removed.connect(removed.append)
    at.branches.remove(at.services.chats.path(chat_id)[0])
    at.qtbot.waitUntil(lambda: bool(removed))
    at.wait_for(2)
    assert at.services.chats.path(chat_id) == ()
    at.branches.put_back(removed[0])
    at.wait_until_saved()
    path = at.services.chats.path(chat_id)
    assert [message.id for message in path] == before
    assert (path[-1].id, path[-1].state, path[-1].text) == (answer.id, "stopped", "Hello")


def test_the_users_words_are_marked_as_theirs_and_part_of_what_follows(at: Desk) -> None:
    chat_id = at.ask("one").chat_id
    at.branches.say_instead(at.services.chats.path(chat_id)[1], "Mine", at.errors.append)
    at.wait_until_saved()
    asked = from_json(at.services.chats.path(chat_id)[1].asked)
    assert asked is not None
    assert (asked.edited, asked.name) == (True, "Starter guide")
    at.ask("two", chat_id)
    request = at.services.engine.requests[-1]
    assert [it.text for it in request.messages] == ["one", "Mine", "two"]


def test_a_question_without_an_answer_is_answered(at: Desk) -> None:
    chat_id = at.ask("one").chat_id
    at.branches.remove(at.services.chats.path(chat_id)[1])
    at.wait_until_saved()
    at.branches.answer_again(at.services.chats.path(chat_id)[0], AnswerOptions(), at.errors.append)
    at.wait_for(2)
    assert at.texts(chat_id) == ["one", "Hello there"]


def test_a_wording_that_cannot_be_saved_is_handed_back(
    at: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    chat_id = at.ask("one").chat_id
    monkeypatch.setattr(BranchStore, "ask_instead", full)
    failed: list[Exception] = []
    question = at.services.chats.path(chat_id)[0]
    at.branches.ask_instead(question, "precious", AnswerOptions(), at.told.append, failed.append)
    at.qtbot.waitUntil(lambda: bool(failed))
    assert at.texts(chat_id) == ["one", "Hello there"]
