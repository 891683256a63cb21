"""The small window for a quick question."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.kit.text.markdown_view import MarkdownView
from app.kit.widgets.icon_button import IconButton
from app.servers.values import ServerProfile
from app.window.desktop.pages.quick_ask import QuickAsk
from app.window.values.launch_request import LaunchRequest
from engines.errors import ModelUnreadable
from engines.types import PromptProgress
from tests.support.openai_server import OpenAiServer
from tests.support.window import Ui


@pytest.fixture
def quick(ui: Ui) -> QuickAsk:
    ui.window.desktop.carry_out(LaunchRequest(quick_ask=True))
    return ui.find(QuickAsk)


def ask(ui: Ui, quick: QuickAsk, text: str) -> None:
    QTest.keyClicks(quick.edit, text)
    QTest.keyClick(quick.edit, Qt.Key.Key_Return)


def answers(quick: QuickAsk) -> list[str]:
    return [view.toPlainText() for view in quick.findChildren(MarkdownView, "quickAnswer")]


def test_an_answer_comes_and_questions_that_follow_are_of_the_same_chat(
    ui: Ui, quick: QuickAsk
) -> None:
    ask(ui, quick, "Hi")
    ui.qtbot.waitUntil(lambda: answers(quick) == ["Hello there"])
    button = ui.find(IconButton, "quickSend")
    ui.qtbot.waitUntil(lambda: button.accessibleName() == "Ask")
    ask(ui, quick, "And again")
    ui.qtbot.waitUntil(lambda: answers(quick) == ["Hello there"] * 2)
    ui.qtbot.waitUntil(lambda: button.accessibleName() == "Ask")
    ui.click("quickOpen")
    ui.qtbot.waitUntil(lambda: ui.texts == ["Hi", "Hello there", "And again", "Hello there"])
    assert not ui.has("quickAsk")


def test_the_model_that_it_names_is_the_one_that_answers(ui: Ui) -> None:
    """A name that is not the model's, or a place that is not the server's, breaks the privacy."""
    ui.presenters.settings.set("auto_titles", False)
    with OpenAiServer("openai") as server:
        kept = ui.app.servers.save(ServerProfile("", "team", server.address), None)
        ui.app.servers.test(kept)
        ui.presenters.models.look()
        entries = ui.window.chooser.entries
        ui.qtbot.waitUntil(lambda: any(it.id == "team:tiny" for it in entries()))
        ui.ask("For the guide")
        ui.window.chooser.use("team:tiny")  # in the open chat alone
        ui.window.desktop.quick_ask()
        quick = ui.find(QuickAsk)
        assert quick.edit.placeholderText() == "Ask Starter guide"
        assert not ui.has("quickBadge")
        ask(ui, quick, "Hi")
        ui.qtbot.waitUntil(lambda: answers(quick) == ["Hello there"])
        button = ui.find(IconButton, "quickSend")
        ui.qtbot.waitUntil(lambda: button.accessibleName() == "Ask")
        # New chats change to the server; this one keeps its model, and says so.
        ui.presenters.settings.set("model", "team:tiny")
        assert quick.edit.placeholderText() == "Ask Starter guide"
        assert not ui.has("quickBadge")
        ask(ui, quick, "And again")
        ui.qtbot.waitUntil(lambda: answers(quick) == ["Hello there"] * 2)
        ui.qtbot.waitUntil(lambda: button.accessibleName() == "Ask")
        assert server.chats() == []
        quick.close()
        ui.qtbot.waitUntil(lambda: not ui.has("quickAsk"))
        ui.window.desktop.quick_ask()
        other = ui.find(QuickAsk)
        assert other.edit.placeholderText() == "Ask tiny on team"
        assert ui.has("quickBadge")
        ask(ui, other, "Hi, team")
        ui.qtbot.waitUntil(lambda: len(server.chats()) == 1)
        ui.presenters.settings.set("model", "starter")
        assert other.edit.placeholderText() == "Ask tiny on team"
        assert ui.has("quickBadge")
        other.close()
        ui.settle()


def test_escape_closes_it_and_the_next_one_begins_anew(ui: Ui, quick: QuickAsk) -> None:
    ask(ui, quick, "Hi")
    ui.qtbot.waitUntil(lambda: answers(quick) == ["Hello there"])
    QTest.keyClick(quick.edit, Qt.Key.Key_Escape)
    ui.qtbot.waitUntil(lambda: not ui.has("quickAsk"))
    ui.press("Ctrl+Shift+K")
    again = ui.find(QuickAsk)
    assert answers(again) == []
    again.close()


def test_it_is_one_window_however_often_it_is_asked_for(ui: Ui, quick: QuickAsk) -> None:
    QTest.keyClicks(quick.edit, "half a tho")
    ui.window.desktop.quick_ask()
    assert ui.find(QuickAsk).edit.toPlainText() == "half a tho"
    quick.close()


def test_the_progress_of_reading_is_shown(ui: Ui, quick: QuickAsk, hold: threading.Event) -> None:
    hold.clear()
    ui.engine.pieces = (PromptProgress(2100, 4800), "Hello")
    ask(ui, quick, "Hi")
    state = ui.find(QLabel, "quickState")
    ui.qtbot.waitUntil(lambda: state.text() == "Reading 2,100 of 4,800 tokens…")
    hold.set()
    ui.qtbot.waitUntil(lambda: answers(quick) == ["Hello"])
    quick.close()


def test_an_answer_is_stopped(ui: Ui, quick: QuickAsk, hold: threading.Event) -> None:
    hold.clear()
    ask(ui, quick, "Hi")
    ui.qtbot.waitUntil(lambda: answers(quick) == ["Hello"])
    ui.click("quickSend")
    hold.set()
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "quickState").text() == "Stopped.")
    quick.close()


def test_why_there_is_no_answer_is_said(ui: Ui, quick: QuickAsk) -> None:
    ui.engine.error = ModelUnreadable("It is broken.", "The file is cut off.", "Get it again.")
    ask(ui, quick, "Hi")
    ui.qtbot.waitUntil(
        lambda: ui.find(QLabel, "quickState").text() == "It is broken. Get it again."
    )
    quick.close()
