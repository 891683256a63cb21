"""Using the window by keyboard and screen reader: focus, moving by messages, announcements."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from app.chats.transcript.pages.message_view import MessageView
from tests.support.window import Ui

Say = tuple[str, bool]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[Say]:
    """Return a list that grows with each announcement, and True if it may interrupt."""
    told: list[Say] = []

    def tell(event: object) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            urgent = event.politeness() is QAccessible.AnnouncementPoliteness.Assertive
            told.append((event.message(), urgent))

    monkeypatch.setattr(QAccessible, "updateAccessibility", tell)
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    return told


def test_the_list_of_chats_shows_its_current_row_when_it_gets_the_focus(ui: Ui) -> None:
    """The list can be scrolled with the wheel, which does not move the current row."""
    for number in range(40):
        ui.app.chats.ask(None, f"Question {number}")
    ui.presenters.chats.changed.emit()
    ui.settle()
    chats = ui.chats
    ui.press("Ctrl+K")
    for keys in ("Tab", "Tab", "Tab"):
        ui.press(keys)
    assert chats.hasFocus()
    ui.press("Home")
    ui.press("Shift+Tab")
    chats.scrollToBottom()
    assert not chats.visualRect(chats.currentIndex()).intersects(chats.viewport().rect())
    ui.press("Tab")
    assert chats.hasFocus()
    ui.settle()
    assert chats.visualRect(chats.currentIndex()).intersects(chats.viewport().rect())


def test_f6_goes_to_the_newest_message_and_back(ui: Ui) -> None:
    ui.ask("Hi")
    ui.press("F6")
    assert ui.last.view.hasFocus()
    ui.qtbot.waitUntil(lambda: ui.has("messageRing"))
    ui.press("F6")
    assert ui.edit.hasFocus()
    assert not ui.has("messageRing")


def test_arrow_keys_go_from_message_to_message(ui: Ui) -> None:
    ui.ask("One")
    ui.ask("Two")
    ui.press("F6")
    said = [focused(ui).message.text]
    for _ in range(3):
        ui.press("Up")
        said.append(focused(ui).message.text)
    assert said == ["Hello there", "Two", "Hello there", "One"]
    ui.press("Up")
    assert focused(ui).message.text == "One"
    ui.press("End")
    assert focused(ui) is ui.last
    ui.press("Down")
    assert ui.edit.hasFocus()
    ui.press("Alt+PgUp")
    assert focused(ui) is ui.last


def test_an_arrow_shows_the_rest_of_a_long_message_first(ui: Ui) -> None:
    ui.engine.pieces = ("A line.\n\n" * 80,)
    ui.ask("One")
    ui.press("F6")
    bar = ui.page.transcript.verticalScrollBar()
    ui.qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0)
    before = bar.value()
    ui.press("Up")
    assert bar.value() < before
    assert focused(ui) is ui.last


def test_the_menu_key_opens_what_can_be_done(ui: Ui) -> None:
    ui.ask("Hi")
    ui.press("F6")
    view = ui.last.view
    place = view.mapToGlobal(QPoint(1, 1))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(1, 1), place)
    QApplication.sendEvent(view, event)
    menu = ui.find(QMenu, "messageMenu")
    assert any(action.objectName() == "act-copy" for action in menu.actions())
    menu.close()


def focused(ui: Ui) -> MessageView:
    widget = QApplication.focusWidget()
    while widget is not None and not isinstance(widget, MessageView):
        widget = widget.parentWidget()
    assert widget is not None, "no message has the focus"
    return widget


def test_the_transcript_is_told_as_messages_with_their_text(ui: Ui) -> None:
    ui.ask("One")
    ui.ask("Two")
    told = []
    for view in sorted(ui.page.transcript.findChildren(MessageView), key=lambda it: it.y()):
        interface = QAccessible.queryAccessibleInterface(view.view)
        text = interface.textInterface()
        told.append(
            (
                interface.role(),
                interface.text(QAccessible.Text.Name),
                text.text(0, text.characterCount()).strip(),
            )
        )
    role = QAccessible.Role.StaticText
    assert told == [
        (role, "You, message 1 of 4", "One"),
        (role, "Assistant, message 2 of 4", "Hello there"),
        (role, "You, message 3 of 4", "Two"),
        (role, "Assistant, message 4 of 4", "Hello there"),
    ]


def test_an_answer_is_announced_sentence_by_sentence(ui: Ui, heard: list[Say]) -> None:
    ui.engine.pieces = ("One is **first**. Two ", "is second.\n\n```python\nx\n```\n", "Done")
    ui.ask("Hi")
    ui.qtbot.waitUntil(lambda: ("The answer is complete.", False) in heard)
    words = " ".join(text for text, _ in heard)
    assert words.endswith("One is first. Two is second. Code, python. Done The answer is complete.")
    assert not any(urgent for _, urgent in heard)


def test_a_sentence_is_heard_before_the_answer_has_ended(
    ui: Ui, heard: list[Say], hold: threading.Event
) -> None:
    hold.clear()
    ui.engine.pieces = ("The first. The", " second.")
    ui.ask("Hi", wait=False)
    ui.qtbot.waitUntil(lambda: ("The first.", False) in heard)
    assert not any("second" in text for text, _ in heard)
    ui.press("Esc")
    hold.set()
    ui.qtbot.waitUntil(lambda: ("The answer was stopped.", False) in heard)


def test_what_was_waited_for_is_not_told_behind_the_first_words(
    ui: Ui, heard: list[Say], hold: threading.Event
) -> None:
    """The engine's thread reports the loading progress, which may arrive late."""
    hold.clear()
    ui.engine.pieces = ("The first. The", " second.")
    ui.ask("Hi", wait=False)
    ui.qtbot.waitUntil(lambda: ("The first.", False) in heard)
    del heard[:]
    ui.presenters.generation.loading.emit(ui.last.message.id, 1.0)
    hold.set()
    ui.qtbot.waitUntil(lambda: ("The answer is complete.", False) in heard)
    assert not any("loaded" in text for text, _ in heard)


def test_announcements_can_be_turned_off(ui: Ui, heard: list[Say]) -> None:
    ui.presenters.settings.set("announce", False)
    ui.ask("Hi")
    assert heard == []


def test_an_answer_of_a_chat_that_is_not_shown_is_not_read(
    ui: Ui, heard: list[Say], hold: threading.Event
) -> None:
    hold.clear()
    ui.ask("Hi", wait=False)
    ui.wait_for_text("Hello")
    ui.press("Ctrl+N")
    heard.clear()
    hold.set()
    ui.settle()
    assert heard == []


def test_a_message_of_the_window_is_announced(ui: Ui, heard: list[Say]) -> None:
    ui.window.notifier.say("Copied.")
    assert heard == [("Copied.", False)]
