"""Messages sent while an answer is written: listed above the composer and sent in order."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMenu, QWidget

from app.base.errors import DiskFull
from app.chats.composer.pages.mtp_chip import MtpPopover
from app.chats.composer.pages.queue_strip import QueueRow, QueueStrip
from app.chats.history.store.waiting import WaitingStore
from app.chats.transcript.pages.inline_edit import InlineEdit
from app.kit.widgets.icon_button import IconButton
from app.models.library.pages.model_picker import ModelPicker
from tests.engines.gguf_files import write_llama
from tests.support.chat_messages import asked
from tests.support.window import Ui, part


def rows(ui: Ui) -> list[str]:
    """Return the texts of the waiting messages from top to bottom."""
    strip = ui.window.findChild(QueueStrip)
    assert strip is not None
    shown = [it for it in strip.findChildren(QueueRow) if it.isVisibleTo(strip) and it.isVisible()]
    return [row.item.text for row in sorted(shown, key=lambda row: row.y())]


def head(ui: Ui) -> str:
    return ui.find(QLabel, "queueHead").text()


def queue(ui: Ui, hold: threading.Event, *texts: str) -> None:
    """Start an answer that pauses after its first word, and queue messages behind it."""
    hold.clear()
    ui.ask("One", wait=False)
    ui.wait_for_text("Hello")
    for text in texts:
        ui.ask(text, wait=False)
    ui.qtbot.waitUntil(lambda: rows(ui) == list(texts))


def test_they_wait_above_the_composer_and_are_sent_in_turn(ui: Ui, hold: threading.Event) -> None:
    queue(ui, hold, "Two", "Three")
    assert ui.edit.toPlainText() == ""
    assert head(ui) == "2 messages are sent one after the other"
    assert ui.texts == ["One", "Hello"]
    hold.set()
    ui.qtbot.waitUntil(lambda: ui.texts[::2] == ["One", "Two", "Three"])
    ui.wait_for_answer()
    assert not ui.has("queueStrip")


def asked_on_the_path(ui: Ui) -> list[str]:
    chat_id = ui.page.chat_id
    path = ui.presenters.chats.path(chat_id) if chat_id else []
    return [message.text for message in path if message.role == "user"]


def test_fifty_messages_typed_at_once_are_one_path(ui: Ui) -> None:
    """Some of them are sent before the chat itself is saved."""
    texts = [f"message {number}" for number in range(50)]
    for text in texts:
        ui.ask(text, wait=False)
    ui.qtbot.waitUntil(lambda: asked_on_the_path(ui) == texts)
    ui.wait_for_answer()
    with ui.app.database.read() as db:
        assert db.execute("SELECT count(*) FROM messages").fetchone()[0] == 2 * len(texts)
        assert db.execute("SELECT count(*) FROM chats").fetchone()[0] == 1


def test_what_is_sent_while_a_waiting_message_is_saved_comes_after_it(
    ui: Ui, hold: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At that moment no answer is being written and no message waits in the database."""
    queue(ui, hold, "Two")
    may_save, send = threading.Event(), WaitingStore.send

    def slow(*args: Any, **more: Any) -> Any:
        assert may_save.wait(30)
        return send(*args, **more)

    monkeypatch.setattr(WaitingStore, "send", slow)
    hold.set()
    chat_id = ui.page.chat_id
    assert chat_id is not None
    ui.qtbot.waitUntil(lambda: not ui.presenters.generation.is_answering(chat_id))
    ui.ask("Three", wait=False)
    may_save.set()
    ui.qtbot.waitUntil(lambda: asked_on_the_path(ui) == ["One", "Two", "Three"])
    ui.wait_for_answer()
    assert ui.texts[::2] == ["One", "Two", "Three"]


def test_what_is_written_is_sent_or_stopped_with_the_mouse(ui: Ui, hold: threading.Event) -> None:
    queue(ui, hold)
    button = ui.find(IconButton, "send")
    assert button.accessibleName() == "Stop"
    ui.type("Two")
    assert button.accessibleName() == "Send after this answer"
    ui.click("send")
    ui.qtbot.waitUntil(lambda: rows(ui) == ["Two"])
    ui.type("more")
    ui.click("stopAnswer")
    ui.wait_for_answer()
    assert ui.edit.toPlainText() == "more"
    assert rows(ui) == ["Two"]


def test_a_stop_keeps_them_until_their_user_sends_them(ui: Ui, hold: threading.Event) -> None:
    queue(ui, hold, "Two", "Three")
    ui.press("Esc")
    ui.qtbot.waitUntil(lambda: head(ui) == "2 messages were not sent")
    ui.wait_for_answer()
    assert len(asked(ui)) == 1
    hold.set()
    ui.click("queueSend")
    ui.qtbot.waitUntil(lambda: ui.texts[::2] == ["One", "Two", "Three"])
    ui.wait_for_answer()


def test_they_are_moved_edited_removed_and_brought_back(ui: Ui, hold: threading.Event) -> None:
    queue(ui, hold, "Two", "Three", "Four")
    ui.click("waitingUp3")
    ui.qtbot.waitUntil(lambda: rows(ui) == ["Two", "Four", "Three"])
    ui.click("waitingEdit1")
    editor = ui.find(InlineEdit)
    editor.edit.setPlainText("Two, better")
    ui.press("Return", editor.edit)
    ui.qtbot.waitUntil(lambda: rows(ui) == ["Two, better", "Four", "Three"])
    ui.click("waitingRemove2")
    ui.qtbot.waitUntil(lambda: rows(ui) == ["Two, better", "Three"])
    ui.click("toastAction")
    ui.qtbot.waitUntil(lambda: rows(ui) == ["Two, better", "Four", "Three"])


def test_what_is_being_edited_stays_when_the_queue_moves_on(ui: Ui, hold: threading.Event) -> None:
    queue(ui, hold, "Two", "Three")
    ui.click("waitingEdit2")
    ui.find(InlineEdit).edit.setPlainText("Half a thought")
    hold.set()
    ui.qtbot.waitUntil(lambda: "Two" in ui.texts)
    hold.clear()
    strip = ui.window.findChild(QueueStrip)
    assert strip is not None
    ui.qtbot.waitUntil(lambda: not ui.has("waitingEdit2"))


def test_one_is_sent_now(ui: Ui, hold: threading.Event) -> None:
    queue(ui, hold, "Two", "Three")
    ui.click("waitingSend2")
    hold.set()
    ui.qtbot.waitUntil(lambda: ui.texts[::2] == ["One", "Three", "Two"])
    ui.wait_for_answer()


def choose_mtp(ui: Ui, mode: str) -> None:
    ui.open_mtp()
    card = ui.find(MtpPopover)
    ui.click(f"mtp-{mode}")
    card.close()


def test_the_switch_of_the_moment_goes_with_the_message(ui: Ui, hold: threading.Event) -> None:
    hold.clear()
    ui.ask("One", wait=False)
    ui.wait_for_text("Hello")
    choose_mtp(ui, "off")
    ui.ask("Two", wait=False)
    ui.qtbot.waitUntil(lambda: rows(ui) == ["Two"])
    choose_mtp(ui, "on")
    hold.set()
    ui.qtbot.waitUntil(lambda: len(asked(ui)) == 2)
    ui.wait_for_answer()
    assert asked(ui)[1].mtp == "off"


def test_each_chat_has_its_own_and_it_goes_on_unseen(ui: Ui, hold: threading.Event) -> None:
    queue(ui, hold, "Two")
    first = ui.page.chat_id
    ui.press("Ctrl+N")
    assert rows(ui) == []
    hold.set()
    ui.qtbot.waitUntil(lambda: len(asked(ui)) == 2)
    assert first is not None
    ui.qtbot.waitUntil(lambda: not ui.presenters.generation.is_answering(first))
    ui.window.open_chat(first)
    ui.qtbot.waitUntil(lambda: ui.texts[::2] == ["One", "Two"])


def test_after_a_crash_they_are_there_as_not_sent(ui: Ui) -> None:
    ui.ask("One")
    chat_id = ui.page.chat_id
    assert chat_id is not None
    WaitingStore(ui.app.database).add(chat_id, "Two", "{}")
    ui.window.open_chat(None)
    ui.window.open_chat(chat_id)
    assert head(ui) == "1 message was not sent"
    assert rows(ui) == ["Two"]
    ui.ask("Between")
    ui.qtbot.waitUntil(lambda: rows(ui) == ["Two"])
    ui.click("queueSend")
    ui.qtbot.waitUntil(lambda: ui.texts[::2] == ["One", "Between", "Two"])
    ui.wait_for_answer()


def test_one_that_cannot_be_kept_comes_back_into_the_composer(
    ui: Ui, hold: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "There is no room.", "Free some space.")

    queue(ui, hold)
    monkeypatch.setattr(WaitingStore, "add", full)
    ui.ask("Precious", wait=False)
    ui.qtbot.waitUntil(lambda: ui.edit.toPlainText() == "Precious")
    ui.click("toastClose")


@pytest.fixture
def other(ui: Ui, tmp_path: Path) -> str:
    """Add a second model and wait until the window lists it."""
    entry = ui.app.library.add(write_llama(tmp_path / "other.gguf"))
    ui.presenters.models.look()
    ui.qtbot.waitUntil(lambda: entry.id in [it.id for it in ui.window.chooser.entries()])
    return entry.id


def send_to(ui: Ui, model: str) -> None:
    ui.click("moreForMessage")
    menu = ui.find(QMenu, "messageOptions")
    part(menu, QAction, "sendToAnother").trigger()
    menu.close()
    picker = ui.find(ModelPicker)
    QTest.keyClicks(picker.list.field, model)
    QTest.keyClick(picker.list.field, Qt.Key.Key_Return)


def test_a_message_goes_to_another_model_than_the_chats(ui: Ui, other: str) -> None:
    ui.ask("One")
    ui.type("Two")
    send_to(ui, other)
    ui.qtbot.waitUntil(lambda: len(asked(ui)) == 2)
    ui.wait_for_answer()
    assert ui.last.message.facts is not None
    assert ui.last.message.facts.model == "other"
    ui.ask("Three")
    assert ui.last.message.facts is not None
    assert ui.last.message.facts.model == "Starter guide"


def test_it_waits_with_its_model_while_another_answers(
    ui: Ui, hold: threading.Event, other: str
) -> None:
    queue(ui, hold)
    ui.type("Two")
    send_to(ui, other)
    ui.qtbot.waitUntil(lambda: rows(ui) == ["Two"])
    assert ui.find(QLabel, "waitingModel1").text() == "other"
    hold.set()
    ui.qtbot.waitUntil(lambda: len(asked(ui)) == 2)
    ui.wait_for_answer()
    assert "other.gguf" in [plan.model.name for plan in ui.engine.plans]


def test_the_strip_is_reached_and_read_with_the_keyboard(ui: Ui, hold: threading.Event) -> None:
    queue(ui, hold, "Two")
    button = ui.find(QWidget, "waitingRemove1")
    assert button.accessibleName() == "Remove: waiting message 1"
    button.setFocus()
    ui.press("Space", button)
    ui.qtbot.waitUntil(lambda: rows(ui) == [])
    ui.click("toastAction")
    ui.qtbot.waitUntil(lambda: rows(ui) == ["Two"])
