"""The list of chats for the window."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core.errors import DiskFull
from app.services.chats import Chats
from app.services.tasks import Tasks
from tests.app.services.conftest import Services


@pytest.fixture
def chats(services: Services, qtbot: QtBot) -> Iterator[Chats]:
    tasks = Tasks()
    yield Chats(services.chats, tasks)
    tasks.close()


def test_changes_are_announced_when_they_are_saved(
    chats: Chats, services: Services, qtbot: QtBot
) -> None:
    _, answer = services.chats.ask(None, "Hello")
    changes: list[Callable[[], None]] = [
        lambda: chats.rename(answer.chat_id, "Renamed"),
        lambda: chats.delete(answer.chat_id),
        lambda: chats.undelete(answer.chat_id),
    ]
    for change in changes:
        with qtbot.waitSignal(chats.changed):
            change()
    assert [chat.title for chat in chats.list()] == ["Renamed"]
    assert [chat.title for chat in chats.list("hello")] == ["Renamed"]
    assert chats.list("goodbye") == []


@pytest.mark.parametrize("name", ["chat.md", "chat.json"])
def test_a_chat_becomes_a_file(
    chats: Chats, services: Services, qtbot: QtBot, tmp_path: Path, name: str
) -> None:
    _, answer = services.chats.ask(None, "Hello")
    with qtbot.waitSignal(chats.exported):
        chats.export(answer.chat_id, tmp_path / name)
    text = (tmp_path / name).read_text("utf-8")
    if name.endswith(".json"):
        assert json.loads(text)["title"] == "Hello"
    else:
        assert text.startswith("# Hello")


def test_a_file_that_cannot_be_written_is_said(
    chats: Chats, services: Services, qtbot: QtBot, tmp_path: Path
) -> None:
    _, answer = services.chats.ask(None, "Hello")
    with qtbot.waitSignal(chats.failed):
        chats.export(answer.chat_id, tmp_path / "no such folder" / "chat.md")


def test_a_switch_holds_before_it_is_saved_and_after(
    chats: Chats, services: Services, qtbot: QtBot
) -> None:
    _, answer = services.chats.ask(None, "Hello", "auto")
    chats.set_mtp(answer.chat_id, "on")
    chats.set_mtp(answer.chat_id, "off")
    assert chats.mtp(answer.chat_id) == "off"
    qtbot.waitUntil(lambda: services.chats.mtp(answer.chat_id) == "off")
    services.chats.set_mtp(answer.chat_id, "on")
    qtbot.waitUntil(lambda: chats.mtp(answer.chat_id) == "on", timeout=2000)


def test_a_switch_that_cannot_be_saved_says_so_and_still_holds(
    chats: Chats, services: Services, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    _, answer = services.chats.ask(None, "Hello", "auto")
    monkeypatch.setattr(services.chats, "set_mtp", full)
    with qtbot.waitSignal(chats.failed):
        chats.set_mtp(answer.chat_id, "off")
    assert chats.mtp(answer.chat_id) == "off"
