"""The window's first moment: text, messages and clicks are handled once everything is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.base.folder import DataFolder
from app.chats.history.store.drafts import DraftStore
from app.chats.pages.engine_badge import EngineBadge
from app.servers.store import ServerStore
from app.servers.values import ServerProfile
from app.start.loading import Loading, save_typed_text
from app.window.pages.main_window import MainWindow
from app.window.pages.signal_buffer import FirstPainting, SignalBuffer
from app.window.values.window_state import WindowState
from app.wiring import app as root
from app.wiring.opening import first_presenters, open_data
from engines.llamacpp import engine as llamacpp_engine
from tests.support.scripted import ScriptedEngine
from tests.support.windows import models_page


class Speaker(QObject):
    said = Signal(str, object)


class First:
    """A window in its state at the first painting."""

    def __init__(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.opened = open_data(DataFolder.default())
        self.services = first_presenters(self.opened)
        self.window = MainWindow(self.services.chats, self.services.settings.current)
        self.loading = Loading(self.opened, self.services, self.window, offline=False)
        with qtbot.waitExposed(self.window):
            self.window.show()

    def build_window(self) -> None:
        with self.qtbot.waitSignal(self.loading.ready):
            self.loading.start()

    def close(self) -> None:
        self.window.close()
        self.services.tasks.close()
        self.loading.close()
        self.opened.database.close()
        shiboken6.delete(self.window)
        QApplication.processEvents()


@pytest.fixture
def first(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[First]:
    engine = ScriptedEngine(("Hello", " there"))
    monkeypatch.setattr(llamacpp_engine, "LlamaCppEngine", lambda *_, **__: engine)
    window = First(qtbot)
    yield window
    window.close()


def test_what_was_said_too_early_is_said_again(qapp: QApplication) -> None:
    speaker, heard = Speaker(), []
    early = SignalBuffer([speaker.said])
    speaker.said.emit("a", None)
    speaker.said.connect(lambda *values: heard.append(values))
    early.pass_on()
    speaker.said.emit("b", 1)
    early.pass_on()
    assert heard == [("a", None), ("b", 1)]


def test_a_message_for_another_computer_waits_for_who_has_not_seen_that(first: First) -> None:
    ServerStore(first.opened.database).save(
        ServerProfile("id-team", "team", "https://ai.example.org")
    )
    first.services.settings.set("model", "team:qwen3")
    QTest.keyClicks(first.window.composer.edit, "What is MTP?")
    first.window.composer.submit()
    first.build_window()
    assert first.window.composer.text == "What is MTP?"
    assert first.window.page.chat_id is None
    badge = first.window.findChild(EngineBadge, "engineBadge")
    assert badge is not None
    assert not badge.isHidden()


def test_a_message_of_the_first_moment_is_asked(first: First) -> None:
    QTest.keyClicks(first.window.composer.edit, "What is MTP?")
    first.window.composer.submit()
    QTest.keyClicks(first.window.composer.edit, "And then")
    first.build_window()
    chats = first.services.chats
    assert first.window.composer.text == "And then"
    first.qtbot.waitUntil(lambda: first.window.page.chat_id is not None)
    chat_id = first.window.page.chat_id
    assert chat_id is not None
    first.qtbot.waitUntil(lambda: chats.path(chat_id)[-1].state == "complete")
    assert [it.text for it in chats.path(chat_id)] == ["What is MTP?", "Hello there"]


def test_what_is_written_stays_with_the_cursor_in_it(first: First) -> None:
    edit = first.window.composer.edit
    QTest.keyClicks(edit, "Begun")
    first.window.activateWindow()
    edit.setFocus()
    first.build_window()
    assert edit.toPlainText() == "Begun"
    assert edit.textCursor().position() == len("Begun")
    assert first.window.page.composer.edit is edit


def test_a_button_of_the_first_moment_is_obeyed(first: First) -> None:
    first.window.sidebar.page.emit("models", "")
    first.build_window()
    assert models_page(first.window).isVisible()


def test_what_cannot_be_loaded_is_told(first: First, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no more files")

    monkeypatch.setattr(root, "App", fail)
    with first.qtbot.waitSignal(first.loading.failed) as failed:
        first.loading.start()
    assert "no more files" in str(failed.args[0])


def test_a_widget_that_is_never_painted_holds_up_nothing(qtbot: QtBot) -> None:
    button = QPushButton()
    with qtbot.waitSignal(FirstPainting(button).painted):
        pass
    shiboken6.delete(button)


def test_what_was_written_in_a_window_that_closes_at_once_is_a_draft(first: First) -> None:
    composer = first.window.composer
    composer.set_text("A question")
    composer.submit()
    composer.set_text("and half a thought")
    save_typed_text(first.window, first.services.chats.drafts)
    first.services.tasks.close()
    assert DraftStore(first.opened.database).of(None) == "A question\n\nand half a thought"


def test_a_built_window_keeps_its_drafts_itself(first: First) -> None:
    first.window.composer.set_text("half a thought")
    first.build_window()
    save_typed_text(first.window, first.services.chats.drafts)
    assert first.services.chats.drafts.of(None) == "half a thought"
    first.window.composer.submit()
    first.qtbot.waitUntil(lambda: first.window.page.chat_id is not None)
    save_typed_text(first.window, first.services.chats.drafts)
    assert first.services.chats.drafts.of(None) == ""


@pytest.mark.parametrize("gone", ["", "archived", "deleted"])
def test_the_chat_that_was_open_last_is_there_again(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    engine = ScriptedEngine()
    monkeypatch.setattr(llamacpp_engine, "LlamaCppEngine", lambda *_, **__: engine)
    before = First(qtbot)
    chats, lists = before.opened.chats, before.opened.chat_lists
    chats.ask(None, "Pears")  # with no chat at all there would be the first screen
    question, answer = chats.ask(None, "Apples")
    chats.save_answer(replace(answer, text="Red.", state="complete"))
    before.build_window()
    before.window.open_chat(question.chat_id)
    state = before.window.state()
    assert state.chat == question.chat_id
    if gone == "archived":
        lists.set_archived([question.chat_id], True)
    elif gone == "deleted":
        chats.delete(question.chat_id)
    before.close()
    after = First(qtbot)
    after.window.restore(state)
    assert after.window.state().chat == question.chat_id, "a window that is closed at once keeps it"
    after.build_window()
    assert after.window.page.chat_id == (None if gone else question.chat_id)
    assert after.window.composer.edit.hasFocus()
    after.close()


def test_who_writes_at_once_begins_a_chat_in_spite_of_the_last(first: First) -> None:
    question, _ = first.opened.chats.ask(None, "Apples")
    first.window.restore(WindowState(chat=question.chat_id))
    QTest.keyClicks(first.window.composer.edit, "Pears")
    first.build_window()
    assert first.window.page.chat_id is None
    assert first.window.composer.text == "Pears"
