"""Long pasted texts, shown as chips at the message, and long messages, shown folded."""

from __future__ import annotations

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QPushButton, QWidget

from app.chats.transcript.pages.bubble import Bubble
from app.chats.transcript.pages.message_view import MessageView
from tests.support.window import Ui

LONG = "\n".join(f"line {number}" for number in range(1, 61))


def paste(ui: Ui, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    ui.press("Ctrl+V", ui.edit)


def chips(ui: Ui) -> list[str]:
    found = ui.window.findChildren(QPushButton, "unfoldPaste")
    return [it.accessibleName() for it in found if it.isVisible()]


def test_a_short_text_is_pasted_as_ever(ui: Ui) -> None:
    paste(ui, "one\ntwo")
    assert ui.edit.toPlainText() == "one\ntwo"
    assert chips(ui) == []


def test_a_long_text_is_a_chip_and_is_sent_whole(ui: Ui) -> None:
    ui.type("What is in it?")
    paste(ui, LONG)
    assert ui.edit.toPlainText() == "What is in it?"
    assert chips(ui) == ["Pasted text, 60 lines"]
    ui.press("Return", ui.edit)
    ui.wait_for_answer()
    assert ui.engine.requests[-1].messages[-1].text == f"What is in it?\n\n{LONG}"
    assert chips(ui) == []


def test_one_long_line_is_a_chip_and_can_be_sent_alone(ui: Ui) -> None:
    paste(ui, "word " * 500)
    assert chips(ui) == ["Pasted text, 2,500 characters"]
    assert ui.find(QAbstractButton, "send").isEnabled()
    ui.press("Return", ui.edit)
    ui.wait_for_answer()
    assert ui.engine.requests[-1].messages[-1].text == ("word " * 500).strip()


def test_a_text_that_is_too_large_for_a_message_becomes_a_file(ui: Ui) -> None:
    """Its passages are then found in it, and nothing lays it out as a whole."""
    paste(ui, "A word about rent. " * 6_000)
    ui.qtbot.waitUntil(lambda: [it.name for it in ui.page.files.attachments] == ["Pasted text.txt"])
    assert ui.edit.toPlainText() == ""
    assert chips(ui) == []


def test_a_chip_unfolds_into_the_message(ui: Ui) -> None:
    ui.type("Look:")
    paste(ui, LONG)
    ui.click("unfoldPaste")
    assert ui.edit.toPlainText() == f"Look:\n\n{LONG}"
    assert chips(ui) == []
    assert ui.edit.hasFocus()


def test_a_chip_can_be_removed(ui: Ui) -> None:
    paste(ui, LONG)
    paste(ui, f"{LONG}\nmore")
    assert chips(ui) == ["Pasted text, 60 lines", "Pasted text, 61 lines"]
    first = next(iter(ui.window.findChildren(QAbstractButton, "removeFile")))
    assert first.accessibleName() == "Remove the pasted text"
    first.click()
    assert chips(ui) == ["Pasted text, 61 lines"]


def test_what_was_pasted_is_kept_as_a_draft(ui: Ui) -> None:
    ui.ask("One")
    first = ui.page.chat_id
    paste(ui, LONG)
    ui.press("Ctrl+N")
    assert chips(ui) == []
    assert ui.edit.toPlainText() == ""
    ui.window.open_chat(first)
    assert ui.page.composer.text == LONG


def test_formatted_text_is_pasted_as_plain(ui: Ui) -> None:
    data = QMimeData()
    data.setHtml("<b>" + "word " * 500 + "</b>")
    data.setText("word " * 500)
    QGuiApplication.clipboard().setMimeData(data)
    ui.press("Ctrl+V", ui.edit)
    assert chips(ui) == ["Pasted text, 2,500 characters"]


def bubble(ui: Ui) -> Bubble:
    view = next(it for it in ui.find(QWidget, "transcript").findChildren(MessageView))
    return view.findChildren(Bubble)[0]


def test_a_long_message_shows_its_beginning_until_all_of_it_is_wanted(ui: Ui) -> None:
    paste(ui, LONG)
    ui.press("Return", ui.edit)
    ui.wait_for_answer()
    shown = bubble(ui)
    folded = shown.height()
    assert folded < shown.view.height()
    button = ui.find(QPushButton, "showAll")
    assert button.text() == "Show all"
    ui.click("showAll")
    ui.qtbot.waitUntil(lambda: shown.height() > shown.view.height())
    assert button.text() == "Show less"
    ui.click("showAll")
    ui.qtbot.waitUntil(lambda: shown.height() == folded)


def test_a_short_message_has_no_button(ui: Ui) -> None:
    ui.ask("Hi")
    assert not ui.has("showAll")


def test_what_is_found_in_a_long_message_is_shown(ui: Ui) -> None:
    paste(ui, LONG)
    ui.press("Return", ui.edit)
    ui.wait_for_answer()
    shown = bubble(ui)
    assert shown.height() < shown.view.height()
    ui.press("Ctrl+F")
    QTest.keyClicks(ui.find(QLineEdit, "findWords"), "line 59")
    ui.qtbot.waitUntil(lambda: shown.height() > shown.view.height())
