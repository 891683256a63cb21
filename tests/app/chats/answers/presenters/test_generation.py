"""Asking questions and receiving answers through signals."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.base.errors import DiskFull
from app.chats.answers.presenters.generation import Generation
from app.chats.answers.values.answers import AnswerOptions, Ready
from app.chats.history.values.conversation import StoredMessage
from app.kit.tasks.tasks import Tasks
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from engines.types import MtpMode, MtpReport
from tests.support.scripted import MTP_LINE
from tests.support.services import Services


class Heard:
    """A record of every signal of a Generation."""

    def __init__(self, generation: Generation) -> None:
        self.ended: list[StoredMessage] = []
        self.begun: list[StoredMessage] = []
        self.refused: list[Any] = []
        self.crashed: list[Exception] = []
        self.text: dict[str, str] = {}
        generation.ended.connect(self.ended.append)
        generation.begun.connect(self.begun.append)
        self.asked: list[StoredMessage] = []
        self.reports: list[tuple[str, MtpReport]] = []
        self.ready: list[Ready] = []
        self.generation = generation
        generation.asked.connect(self.asked.append)
        generation.mtp.connect(lambda chat_id, report: self.reports.append((chat_id, report)))
        generation.ready.connect(lambda _, ready: self.ready.append(ready))
        generation.crashed.connect(self.crashed.append)
        generation.text.connect(self._add)

    def ask(self, chat_id: str | None, text: str, mtp: MtpMode = "auto") -> None:
        self.generation.ask(
            chat_id, text, AnswerOptions({"mtp": mtp}), lambda _: None, self.refused.append
        )

    def _add(self, answer_id: str, piece: str) -> None:
        self.text[answer_id] = self.text.get(answer_id, "") + piece


@pytest.fixture
def generation(services: Services, qtbot: QtBot, tmp_path: Path) -> Iterator[Generation]:
    tasks = Tasks()
    settings = SettingsService(SettingsFile(tmp_path / "settings.json"))
    yield Generation(services.chats, services.answers, settings, tasks, retry_ms=20)
    tasks.close()


def test_a_question_is_answered(generation: Generation, services: Services, qtbot: QtBot) -> None:
    heard = Heard(generation)
    heard.ask(None, "Hi")
    qtbot.waitUntil(lambda: bool(heard.ended))
    (answer,) = heard.ended
    assert heard.text == {answer.id: "Hello there"}
    assert services.chats.path(answer.chat_id)[-1] == answer
    assert not generation.is_answering(answer.chat_id)


def test_stop_keeps_what_was_there(
    generation: Generation, services: Services, qtbot: QtBot
) -> None:
    services.engine.hold = threading.Event()
    heard = Heard(generation)
    heard.ask(None, "Hi")
    qtbot.waitUntil(lambda: bool(heard.text))
    (begun,) = heard.begun
    assert generation.is_answering(begun.chat_id)
    generation.stop(begun.chat_id)
    qtbot.waitUntil(lambda: bool(heard.ended))
    assert (heard.ended[0].state, heard.ended[0].text) == ("stopped", "Hello")


def test_a_second_chat_waits_for_its_turn_but_its_question_is_saved_at_once(
    generation: Generation, services: Services, qtbot: QtBot
) -> None:
    services.engine.hold = threading.Event()
    heard = Heard(generation)
    heard.ask(None, "one")
    qtbot.waitUntil(lambda: bool(heard.text))
    heard.ask(None, "two")
    qtbot.waitUntil(lambda: len(heard.begun) == 2)
    assert {chat.title for chat in services.chats.chats()} == {"one", "two"}
    assert len(services.engine.requests) == 1
    services.engine.hold.set()
    qtbot.waitUntil(lambda: len(heard.ended) == 2)


def test_regenerate_and_resume(generation: Generation, services: Services, qtbot: QtBot) -> None:
    heard = Heard(generation)
    heard.ask(None, "Hi")
    qtbot.waitUntil(lambda: len(heard.ended) == 1)
    first = heard.ended[0]
    generation.regenerate(first, AnswerOptions({"mtp": "auto"}), heard.refused.append)
    qtbot.waitUntil(lambda: len(heard.ended) == 2)
    assert heard.ended[1].id != first.id
    assert heard.ended[1].parent_id == first.parent_id
    generation.resume(heard.ended[1], AnswerOptions({"mtp": "auto"}), heard.refused.append)
    qtbot.waitUntil(lambda: len(heard.ended) == 3)
    assert heard.ended[2].text == "Hello thereHello there"


def test_a_question_that_cannot_be_saved_comes_back(
    generation: Generation, services: Services, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    monkeypatch.setattr(services.chats, "ask", full)
    heard = Heard(generation)
    heard.ask(None, "precious words")
    qtbot.waitUntil(lambda: bool(heard.refused))
    assert services.engine.requests == []


def test_a_bug_is_said_and_does_not_block_the_next_answer(
    generation: Generation, services: Services, qtbot: QtBot
) -> None:
    services.engine.error = ZeroDivisionError()
    heard = Heard(generation)
    heard.ask(None, "Hi")
    qtbot.waitUntil(lambda: bool(heard.crashed))
    services.engine.error = None
    heard.ask(heard.begun[0].chat_id, "Again")
    qtbot.waitUntil(lambda: bool(heard.ended))


@pytest.fixture
def full_disk(services: Services, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Make saving an answer fail for lack of space, until the returned patch is undone."""

    def full(_: StoredMessage) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    with monkeypatch.context() as patched:
        patched.setattr(services.chats, "save_answer", full)
        yield patched


def test_an_answer_that_could_not_be_saved_is_still_shown_and_saved_when_continued(
    generation: Generation, services: Services, qtbot: QtBot, full_disk: pytest.MonkeyPatch
) -> None:
    heard = Heard(generation)
    heard.ask(None, "Hi")
    qtbot.waitUntil(lambda: bool(heard.ended))
    stored = services.chats.path(heard.ended[0].chat_id)[-1]
    assert (stored.text, stored.state) == ("", "streaming")
    shown = generation.so_far(stored)
    assert (shown.text, shown.state) == ("Hello there", "failed")
    generation.resume(shown, AnswerOptions({"mtp": "auto"}), heard.refused.append)
    qtbot.waitUntil(lambda: len(heard.begun) == 2)
    full_disk.undo()
    qtbot.waitUntil(lambda: len(heard.ended) == 2)
    qtbot.waitUntil(lambda: services.chats.path(shown.chat_id)[-1].text == "Hello thereHello there")


def test_an_answer_that_could_not_be_saved_is_once_there_is_room(
    generation: Generation, services: Services, qtbot: QtBot, full_disk: pytest.MonkeyPatch
) -> None:
    heard, saved = Heard(generation), list[StoredMessage]()
    generation.saved.connect(saved.append)
    heard.ask(None, "Hi")
    qtbot.waitUntil(lambda: bool(heard.ended))
    full_disk.undo()
    qtbot.waitUntil(lambda: bool(saved))
    stored = services.chats.path(heard.ended[0].chat_id)[-1]
    assert (stored.text, stored.state) == ("Hello there", "complete")
    assert stored == saved[0] == generation.so_far(stored)
    assert not services.chats.mark_interrupted()


def test_an_answer_that_could_not_be_saved_is_tried_once_more_at_the_end(
    services: Services, qtbot: QtBot, tmp_path: Path, full_disk: pytest.MonkeyPatch
) -> None:
    tasks = Tasks()
    settings = SettingsService(SettingsFile(tmp_path / "settings.json"))
    heard = Heard(Generation(services.chats, services.answers, settings, tasks))
    heard.ask(None, "Hi")
    qtbot.waitUntil(lambda: bool(heard.ended))
    full_disk.undo()
    tasks.close()
    stored = services.chats.path(heard.ended[0].chat_id)[-1]
    assert (stored.text, stored.state) == ("Hello there", "complete")


def test_the_mode_is_that_of_the_moment_of_asking(
    generation: Generation, services: Services, qtbot: QtBot
) -> None:
    services.engine.hold = threading.Event()
    heard = Heard(generation)
    heard.ask(None, "one", "on")
    qtbot.waitUntil(lambda: bool(heard.text))
    chat_id = heard.begun[0].chat_id
    assert generation.running_mtp(chat_id) == "on"
    services.chats.set_mtp(chat_id, "off")
    services.engine.hold.set()
    qtbot.waitUntil(lambda: len(heard.ended) == 1)
    assert generation.running_mtp(chat_id) is None
    assert [request.mtp for request in services.engine.requests] == ["on"]


def test_what_mtp_does_is_said_on_the_way_and_at_the_end(
    generation: Generation, services: Services, qtbot: QtBot
) -> None:
    reports = [
        MtpReport("on", active=True, reason=f"{depth} ahead", kind="drafter", depth=depth)
        for depth in (1, 2)
    ]
    services.engine.reports = reports
    heard = Heard(generation)
    heard.ask(None, "Hi", "on")
    qtbot.waitUntil(lambda: bool(heard.ended))
    qtbot.waitUntil(lambda: bool(heard.reports))
    chat_id = heard.ended[0].chat_id
    assert heard.reports[-1] == (chat_id, reports[-1])
    assert heard.ended[0].facts is not None
    assert heard.ended[0].facts.mtp == reports[-1]
    assert heard.ready[0].loaded.mtp_line == MTP_LINE
    assert heard.ready[0].entry.id == "starter"


def test_two_questions_asked_at_once_are_each_told_of_their_own(
    generation: Generation, services: Services, qtbot: QtBot
) -> None:
    heard = Heard(generation)
    done: dict[str, list[StoredMessage]] = {"one": [], "two": []}
    for text, told in done.items():
        generation.ask(None, text, AnswerOptions(), told.append, heard.refused.append)
    qtbot.waitUntil(lambda: len(heard.ended) == 2)
    assert {text: [it.text for it in told] for text, told in done.items()} == {
        "one": ["one"],
        "two": ["two"],
    }
    assert [it.text for it in heard.asked] == ["one", "two"]
