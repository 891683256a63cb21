"""Actions on single messages: editing, branches, rating, deleting, quoting and facts."""

from __future__ import annotations

import sqlite3
import threading

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QCursor, QEnterEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QTreeWidget, QWidget

from app.base.errors import DiskFull
from app.chats.answers.values.answer_record import from_json
from app.chats.history.store.branches import BranchStore
from app.chats.transcript.pages.inline_edit import InlineEdit
from app.chats.transcript.pages.message_view import MessageView
from app.chats.transcript.pages.tree_dialog import TreeDialog
from tests.support.chat_messages import act, asked, branch, conversation, edit, view
from tests.support.window import Ui


def hover(ui: Ui, at: MessageView) -> None:
    middle = QPointF(at.rect().center())
    QApplication.sendEvent(
        at, QEnterEvent(middle, middle, QPointF(at.mapToGlobal(middle.toPoint())))
    )
    QApplication.processEvents()


def leave(at: MessageView) -> None:
    QApplication.sendEvent(at, QEvent(QEvent.Type.Leave))
    QApplication.processEvents()


def test_the_actions_of_every_message_come_with_the_pointer(ui: Ui) -> None:
    QCursor.setPos(ui.window.mapToGlobal(QPoint(1, 1)))
    conversation(ui, "One", "Two")
    question, answer = view(ui, 0), view(ui, 1)
    assert not question.findChildren(QWidget, "editMessage")
    height = question.height()
    hover(ui, question)
    ui.qtbot.waitUntil(lambda: question.findChild(QWidget, "editMessage").isVisible())  # type: ignore[union-attr]
    assert question.height() == height, "nothing moves"
    leave(question)
    assert not any(it.isVisible() for it in question.findChildren(QWidget, "editMessage"))
    hover(ui, answer)
    assert answer.findChild(QWidget, "regenerate") is not None
    assert answer.findChild(QWidget, "continueAnswer") is None


def test_the_actions_come_with_the_keyboards_focus_and_stay_while_it_is_on_them(ui: Ui) -> None:
    conversation(ui, "One", "Two")
    question = view(ui, 0)
    question.view.setFocus(Qt.FocusReason.TabFocusReason)
    ui.qtbot.waitUntil(lambda: question.findChild(QWidget, "editMessage") is not None)
    names = []
    for _ in range(3):
        ui.press("Tab", QApplication.focusWidget())
        focused = QApplication.focusWidget()
        names.append(focused.objectName() if focused is not None else "")
    assert names == ["editMessage", "copyQuestion", "moreActions"]
    ui.press("Tab", QApplication.focusWidget())
    ui.qtbot.waitUntil(
        lambda: not any(it.isVisible() for it in question.findChildren(QWidget, "editMessage"))
    )


def test_a_question_in_the_middle_is_asked_in_other_words(ui: Ui) -> None:
    conversation(ui, "One", "Two", "Three")
    ui.engine.pieces = ("Better",)
    edit(ui, 2, "Two, better")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Answer 0", "Two, better", "Better"])
    ui.wait_for_answer()
    assert not ui.has("inlineEdit")
    assert branch(ui) == "2/2"
    ui.click("branchBefore")
    ui.qtbot.waitUntil(lambda: len(ui.texts) == 6)
    assert ui.texts == ["One", "Answer 0", "Two", "Answer 1", "Three", "Answer 2"]
    assert branch(ui) == "1/2"
    ui.ask("Four")
    assert [it.text for it in asked(ui)[-1].messages][2] == "Two"


def test_an_answer_is_edited_and_what_follows_builds_on_it(ui: Ui) -> None:
    conversation(ui, "One", "Two")
    edit(ui, 1, "My own words")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "My own words"])
    assert branch(ui) == "2/2"
    kept = from_json(ui.last.message.asked)
    assert kept is not None
    assert kept.edited
    ui.ask("And?")
    assert [it.text for it in asked(ui)[-1].messages] == ["One", "My own words", "And?"]


def test_escape_puts_an_edit_away_and_undo_brings_it_back(ui: Ui) -> None:
    conversation(ui, "One")
    act(ui, 0, "edit")
    editor = ui.find(InlineEdit)
    editor.edit.setPlainText("Precious words")
    ui.press("Esc", editor.edit)
    ui.qtbot.waitUntil(lambda: not ui.has("inlineEdit"))
    assert ui.texts[0] == "One"
    ui.click("toastAction")
    assert ui.find(InlineEdit).text == "Precious words"


def test_an_edit_waits_while_another_chat_is_read(ui: Ui) -> None:
    conversation(ui, "One")
    first = ui.page.chat_id
    act(ui, 0, "edit")
    ui.find(InlineEdit).edit.setPlainText("Half a thought")
    ui.window.open_chat(None)
    ui.window.open_chat(first)
    assert ui.find(InlineEdit).text == "Half a thought"


def test_an_edit_is_there_after_a_crash_and_gone_once_it_is_sent(ui: Ui) -> None:
    conversation(ui, "One")
    chat_id = ui.page.chat_id
    assert chat_id is not None
    store = BranchStore(ui.app.database)
    act(ui, 0, "edit")
    ui.find(InlineEdit).edit.setPlainText("Half a thought")
    ui.qtbot.waitUntil(lambda: list(store.edits(chat_id).values()) == ["Half a thought"])
    ui.window.open_chat(None)
    ui.page.answers.editing._texts.clear()
    ui.window.open_chat(chat_id)
    editor = ui.find(InlineEdit)
    assert editor.text == "Half a thought"
    ui.press("Return", editor.edit)
    ui.qtbot.waitUntil(lambda: ui.texts[0] == "Half a thought")
    ui.wait_for_answer()
    assert store.edits(chat_id) == {}


def test_an_edit_that_cannot_be_saved_stays_where_it_is(
    ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "There is no room.", "Free some space.")

    conversation(ui, "One")
    monkeypatch.setattr(BranchStore, "ask_instead", full)
    edit(ui, 0, "Precious")
    ui.qtbot.waitUntil(lambda: ui.has("toastLine1"))
    ui.qtbot.waitUntil(lambda: ui.find(InlineEdit).isEnabled())
    assert ui.find(InlineEdit).text == "Precious"
    ui.click("toastClose")


def test_a_branch_is_left_and_met_again_while_it_is_written(ui: Ui, hold: threading.Event) -> None:
    conversation(ui, "One")
    hold.clear()
    ui.engine.pieces = ("Slow", " answer")
    ui.press("Ctrl+R")
    ui.wait_for_text("Slow")
    ui.press("Alt+Left")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Answer 0"])
    assert branch(ui) == "1/2"
    ui.press("Alt+Right")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Slow"])
    ui.press("Alt+Left")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Answer 0"])
    hold.set()
    ui.wait_for_answer()
    assert ui.texts == ["One", "Answer 0"], "its end is no reason to move"
    ui.press("Alt+Right")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Slow answer"])


def test_an_old_answer_in_the_middle_is_answered_again(ui: Ui) -> None:
    conversation(ui, "One", "Two")
    ui.engine.pieces = ("Another",)
    act(ui, 1, "regenerate")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Another"])
    ui.wait_for_answer()
    ui.click("branchBefore")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Answer 0", "Two", "Answer 1"])


def test_the_question_that_is_being_answered_is_edited(ui: Ui, hold: threading.Event) -> None:
    hold.clear()
    ui.engine.pieces = ("Long", " answer")
    ui.ask("Typo", wait=False)
    ui.wait_for_text("Long")
    edit(ui, 0, "No typo")
    hold.set()
    ui.qtbot.waitUntil(lambda: ui.texts == ["No typo", "Long answer"])
    ui.wait_for_answer()
    ui.click("branchBefore")
    ui.qtbot.waitUntil(lambda: ui.texts == ["Typo", "Long"])
    assert ui.last.message.state == "stopped"


def test_deleting_in_the_middle_and_undo_bring_exactly_the_former_view(ui: Ui) -> None:
    conversation(ui, "One", "Two", "Three")
    before = ui.texts
    edit(ui, 4, "Three, better")
    ui.qtbot.waitUntil(lambda: ui.texts[-2] == "Three, better")
    ui.wait_for_answer()
    ui.press("Alt+Left")
    ui.qtbot.waitUntil(lambda: ui.texts == before)
    act(ui, 2, "delete")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Answer 0"])
    assert "the 5 after it" in ui.find(QLabel, "toastLine1").text()
    ui.click("toastAction")
    ui.qtbot.waitUntil(lambda: ui.texts == before)
    assert branch(ui) == "1/2"


def test_undo_takes_back_one_deletion_after_the_other(ui: Ui) -> None:
    conversation(ui, "One", "Two")
    before = ui.texts
    act(ui, 2, "delete")
    ui.qtbot.waitUntil(lambda: ui.texts == before[:2])
    act(ui, 0, "delete")
    ui.qtbot.waitUntil(ui.page.welcome.isVisible)
    ui.window.notifier.undo()
    ui.qtbot.waitUntil(lambda: ui.texts == before[:2])
    ui.window.notifier.undo()
    ui.qtbot.waitUntil(lambda: ui.texts == before)


def test_deleting_the_first_question_shows_the_start_and_undo_the_chat(ui: Ui) -> None:
    conversation(ui, "One")
    act(ui, 0, "delete")
    ui.qtbot.waitUntil(ui.page.welcome.isVisible)
    ui.click("toastAction")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Answer 0"])


def test_deleting_one_of_two_answers_shows_the_other(ui: Ui) -> None:
    conversation(ui, "One")
    ui.engine.pieces = ("Second",)
    ui.press("Ctrl+R")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Second"])
    ui.wait_for_answer()
    act(ui, 1, "delete")
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Answer 0"])
    assert not ui.has("branchBar")


def test_a_rating_is_shown_kept_and_taken_back(ui: Ui) -> None:
    conversation(ui, "One")
    ui.click("rateGood")
    chat_id = ui.page.chat_id
    assert chat_id is not None
    ui.qtbot.waitUntil(lambda: ui.app.chats.path(chat_id)[-1].rating == 1)
    assert ui.last.message.rating == 1
    ui.page.reload()
    assert ui.last.message.rating == 1
    ui.click("rateBad")
    ui.qtbot.waitUntil(lambda: ui.app.chats.path(chat_id)[-1].rating == -1)
    ui.click("rateBad")
    ui.qtbot.waitUntil(lambda: ui.app.chats.path(chat_id)[-1].rating == 0)


def test_the_tree_shows_all_branches_and_enter_jumps(ui: Ui) -> None:
    conversation(ui, "One", "Two")
    ui.engine.pieces = ("Elsewhere",)
    edit(ui, 2, "Two, better")
    ui.qtbot.waitUntil(lambda: ui.texts[-1] == "Elsewhere")
    ui.wait_for_answer()
    ui.press("Ctrl+Shift+B")
    tree = ui.find(QTreeWidget, "branchTree")
    root = tree.topLevelItem(0)
    assert root is not None
    assert root.text(0).startswith("You: One")
    below = [root.child(at) for at in range(root.childCount())]
    assert [it.text(0) for it in below if it] == ["You: Two", "You: Two, better"]
    assert tree.currentItem() is root.child(1), "what is shown is marked"
    QTest.keyClick(tree, Qt.Key.Key_Up)
    QTest.keyClick(tree, Qt.Key.Key_Return)
    ui.qtbot.waitUntil(lambda: ui.texts == ["One", "Answer 0", "Two", "Answer 1"])
    assert not ui.has("treeDialog")


def test_the_tree_of_a_chat_that_never_parted_says_what_to_do(ui: Ui) -> None:
    ui.ask("One")
    ui.press("Ctrl+Shift+B")
    ui.find(TreeDialog)
    assert "no branches yet" in ui.find(QLabel, "treeNote").text()
    ui.click("treeClose")


def test_a_fork_far_up_a_long_chat_keeps_its_place(ui: Ui) -> None:
    ui.ask("Start")
    chat_id = ui.page.chat_id
    assert chat_id is not None
    ui.app.chats.answer_again(chat_id, ui.last.message.id)
    ui.app.chats.mark_interrupted()
    with sqlite3.connect(ui.app.folder.database) as database:
        parent = database.execute("SELECT leaf_id FROM chats").fetchone()[0]
        database.execute(
            "UPDATE messages SET state = 'complete', text = 'Other' WHERE id = ?", (parent,)
        )
        for number in range(120):
            role = "assistant" if number % 2 else "user"
            database.execute(
                "INSERT INTO messages (id, chat_id, parent_id, role, text, state, created)"
                " VALUES (?, ?, ?, ?, ?, 'complete', ?)",
                (f"m{number}", chat_id, parent, role, f"m{number}", 5e9 + number),
            )
            parent = f"m{number}"
        database.execute("UPDATE chats SET leaf_id = ?", (parent,))
    database.close()
    ui.page.reload()
    ui.settle()
    answer = ui.page.transcript.messages[1]
    assert ui.page.transcript.go_to(answer.id) is not None
    ui.settle()
    shown = view(ui, 1)
    y = shown.mapTo(ui.page.transcript.viewport(), shown.rect().topLeft()).y()
    shown.go.emit(-1, shown.message)
    ui.qtbot.waitUntil(lambda: len(ui.page.transcript.messages) == 2)
    ui.press("Alt+Right")
    ui.qtbot.waitUntil(lambda: len(ui.page.transcript.messages) == 122)
    ui.settle()
    back = view(ui, 1)
    assert back.message.id == answer.id
    assert abs(back.mapTo(ui.page.transcript.viewport(), back.rect().topLeft()).y() - y) < 100
