"""The scratch chat's window: its mark, the question before closing, and leaving nothing behind."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.base.errors import ChatNotFound
from app.chats.history.values.places import ALL
from app.start.running import reporter
from app.window.scratch.pages.scratch_window import ScratchWindow, without_words
from tests.support.made_documents import pdf
from tests.support.window import Ui

OBJECT = "\ufffc"
"""The character that stands for a picture in a text."""


def open_scratch(ui: Ui) -> ScratchWindow:
    ui.press("Ctrl+Shift+N")
    return ui.find(ScratchWindow)


def ask(ui: Ui, scratch: ScratchWindow, text: str, *, wait: bool = True) -> None:
    QTest.keyClicks(scratch.page.composer.edit, text)
    if wait:
        with ui.qtbot.waitSignal(scratch.scratch.presenters.generation.ended):
            scratch.page.composer.submit()
    else:
        with ui.qtbot.waitSignal(scratch.scratch.presenters.generation.begun):
            scratch.page.composer.submit()


def is_gone(ui: Ui) -> None:
    ui.qtbot.waitUntil(lambda: ui.window.scratch.shown is None)
    ui.qtbot.waitUntil(lambda: not ui.window.findChildren(ScratchWindow))


def test_it_answers_and_nothing_of_it_is_among_the_chats(ui: Ui) -> None:
    scratch = open_scratch(ui)
    assert "Scratch" in scratch.windowTitle()
    assert ui.has("scratchBanner")
    ask(ui, scratch, "secret")
    assert ui.engine.requests[-1].chat is None, "the engine would keep a state of it"
    assert [it.text for it in scratch.page.transcript.messages] == ["secret", "Hello there"]
    assert ui.presenters.chats.count(ALL) == 0
    assert ui.titles == []
    assert ui.window.windowTitle() == "Hearth"
    scratch.close_now()
    is_gone(ui)


def test_the_pages_of_its_files_are_shown_and_none_is_kept(ui: Ui, tmp_path: Path) -> None:
    """The viewer opens the user's own file, as long as it is unchanged."""
    scratch = open_scratch(ui)
    lease = pdf(tmp_path / "lease.pdf", [["The rent is due in May."]])
    ui.engine.pieces = ("It says “due in May” (lease.pdf, page 1).",)
    scratch.page.files.add([lease])
    ui.qtbot.waitUntil(lambda: bool(scratch.page.files.attachments))
    ask(ui, scratch, "When?")
    last = scratch.page.transcript.last()
    assert last is not None
    follow = last.view.quote
    ui.qtbot.waitUntil(lambda: last.part("citations") is not None)
    follow.emit(1)
    viewer = scratch.page.viewer
    ui.qtbot.waitUntil(lambda: not viewer.canvas.image.isNull())
    assert viewer.canvas.isVisible()
    viewer.close()
    pdf(lease, [["The rent is due in June."]])
    follow.emit(1)
    ui.qtbot.waitUntil(viewer.text.isVisible)
    assert "due in May" in viewer.text.toPlainText()
    viewer.close()
    scratch.close_now()
    is_gone(ui)
    assert not ui.app.folder.attachments.exists()


def test_a_formula_is_drawn(ui: Ui) -> None:
    scratch = open_scratch(ui)
    ui.engine.pieces = ("It is $x^2$", " and\n\n$$\\frac12$$\n")
    ask(ui, scratch, "Which?")
    last = scratch.page.transcript.last()
    assert last is not None
    ui.qtbot.waitUntil(lambda: last.view.document().toRawText().count(OBJECT) == 2)
    assert "x^2" not in last.view.toPlainText()
    scratch.close_now()
    is_gone(ui)


def test_it_asks_before_it_closes_with_messages(ui: Ui) -> None:
    scratch = open_scratch(ui)
    ask(ui, scratch, "secret")
    chat_id = scratch.page.chat_id
    assert chat_id is not None
    chats = scratch.scratch.presenters.chats
    ui.click("closeScratch")
    ui.click("keepScratch")
    assert ui.window.scratch.shown is scratch
    assert len(chats.path(chat_id)) == 2
    ui.click("closeScratch")
    ui.click("dropScratch")
    is_gone(ui)


def test_without_messages_it_closes_at_once(ui: Ui) -> None:
    open_scratch(ui).close()
    is_gone(ui)


def test_there_is_one_at_a_time_and_the_next_is_empty(ui: Ui) -> None:
    scratch = open_scratch(ui)
    ask(ui, scratch, "secret")
    ui.window.scratch.open()
    assert ui.window.scratch.shown is scratch
    first = scratch.page.chat_id
    assert first is not None
    scratch.close_now()
    is_gone(ui)
    second = open_scratch(ui)
    assert second.page.transcript.messages == []
    with pytest.raises(ChatNotFound):
        second.scratch.presenters.chats.path(first)
    second.close_now()
    is_gone(ui)


def test_it_closes_in_the_middle_of_an_answer(ui: Ui, hold: threading.Event) -> None:
    hold.clear()
    scratch = open_scratch(ui)
    ask(ui, scratch, "secret", wait=False)
    scratch.close_now()
    is_gone(ui)
    hold.set()
    ui.window.activateWindow()
    ui.ask("Something else")
    assert ui.texts == ["Something else", "Hello there"]
    assert [it.text for it in ui.engine.requests[-1].messages] == ["Something else"]


def test_the_main_window_does_not_take_it_away_without_asking(ui: Ui) -> None:
    scratch = open_scratch(ui)
    ask(ui, scratch, "secret")
    ui.window.close()
    assert ui.window.isVisible()
    ui.click("dropScratch")
    is_gone(ui)
    assert ui.window.isVisible()
    ui.window.close()
    assert not ui.window.isVisible()


def test_no_word_of_it_gets_into_the_log(ui: Ui, caplog: pytest.LogCaptureFixture) -> None:
    report = reporter(ui.window)
    scratch = open_scratch(ui)
    error = KeyError("secret")
    with caplog.at_level(logging.ERROR):
        report(type(error), error, None)
    assert "secret" not in caplog.text
    assert "KeyError" in caplog.text
    assert str(without_words(error)).startswith("KeyError")
    for window in QApplication.topLevelWidgets():
        if window.objectName() == "messageDialog":
            window.close()
    scratch.close_now()
    is_gone(ui)
    assert ui.window.scratch.without_chat_text(error) is error
