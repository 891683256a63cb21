"""Announcing answers: when, and in which words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.base.folder import DataFolder
from app.chats.history.values.conversation import Failure, StoredMessage
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from app.window.desktop.pages import announcer
from app.window.desktop.pages.announcer import Announcer
from app.window.desktop.pages.tray import Tray

ANSWER = StoredMessage("a", "chat", "q", "assistant", "## So\n\nthe **secret** is `x`.", 0.0)


class Answering(QObject):
    begun = Signal(object)
    ended = Signal(object)


class Shown(QObject):
    """A desktop's notifications, with a record of those shown."""

    clicked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.are_possible = True
        self.shown: list[tuple[str, str, str]] = []

    def show(self, title: str, text: str, about: str) -> None:
        self.shown.append((title, text, about))


@pytest.fixture
def settings(data_dir: object) -> SettingsService:
    folder = DataFolder.default()
    folder.prepare()
    service = SettingsService(SettingsFile(folder.settings))
    service.set("notify", True)
    return service


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QWidget]:
    window = QWidget()
    yield window
    shiboken6.delete(window)


@pytest.fixture
def told(
    window: QWidget, settings: SettingsService, monkeypatch: pytest.MonkeyPatch
) -> tuple[Answering, Shown, Announcer]:
    monkeypatch.setattr(announcer, "LONG_S", 0.0)
    answering, shown = Answering(), Shown()
    made = Announcer(answering, settings, shown, Tray(window), window)  # type: ignore[arg-type]
    return answering, shown, made


def answer(answering: Answering, message: StoredMessage = ANSWER) -> None:
    answering.begun.emit(message)
    answering.ended.emit(message)


def test_it_says_nothing_of_the_answer(told: tuple[Answering, Shown, Announcer]) -> None:
    answering, shown, _ = told
    answer(answering)
    assert shown.shown == [("Your answer is ready", "", "chat")]


def test_its_first_words_only_if_allowed(
    told: tuple[Answering, Shown, Announcer], settings: SettingsService
) -> None:
    answering, shown, _ = told
    settings.set("notify_text", True)
    answer(answering)
    answer(answering, replace(ANSWER, text="word " * 100))
    (_, text, _), (_, long, _) = shown.shown
    assert text == "So the secret is x."
    assert len(long) <= 141
    assert long.endswith("word…")


def test_its_words_hold_nothing_that_a_desktop_cannot_take(
    told: tuple[Answering, Shown, Announcer], settings: SettingsService
) -> None:
    answering, shown, _ = told
    settings.set("notify_text", True)
    answer(answering, replace(ANSWER, text="A\0 b\x1b[2J c\u202ed"))
    assert not {"\0", "\x1b", "\u202e"} & set(shown.shown[0][1])


def test_a_failure_is_told_without_its_text(told: tuple[Answering, Shown, Announcer]) -> None:
    answering, shown, _ = told
    failed = replace(ANSWER, state="failed", failure=Failure("x", "What", "Why", "Do"))
    answer(answering, failed)
    assert shown.shown == [("An answer could not be finished", "Open Hearth for details.", "chat")]


def test_a_quick_answer_is_not_announced(
    told: tuple[Answering, Shown, Announcer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcer, "LONG_S", 10.0)
    answering, shown, _ = told
    answer(answering)
    assert shown.shown == []


def test_nothing_is_announced_while_the_user_looks(
    told: tuple[Answering, Shown, Announcer], window: QWidget, qtbot: QtBot
) -> None:
    answering, shown, _ = told
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    answer(answering)
    assert shown.shown == []


def test_nothing_is_announced_unless_wanted(
    told: tuple[Answering, Shown, Announcer], settings: SettingsService
) -> None:
    answering, shown, _ = told
    settings.set("notify", False)
    answer(answering)
    assert shown.shown == []


def test_a_notification_leads_to_its_chat(
    told: tuple[Answering, Shown, Announcer], qtbot: QtBot
) -> None:
    _, shown, made = told
    with qtbot.waitSignal(made.open_chat) as opened:
        shown.clicked.emit("chat")
    assert opened.args == ["chat"]
    assert made.problem == ""
    shown.are_possible = False
    assert "no notifications" in made.problem
