"""The chat page: sending, stopping and continuing, with real key presses."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from typing import NoReturn

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLabel

from app.base.errors import DatabaseBusy, DiskFull
from app.chats.history.values.places import ALL
from app.chats.transcript.pages.message_footer import AnswerFooter
from app.chats.transcript.pages.message_view import FailureCard
from app.chats.transcript.pages.progress_line import ProgressLine
from app.kit.look.format import moment
from app.kit.widgets.icon_button import IconButton
from engines.errors import NotEnoughMemory
from engines.types import PromptProgress
from tests.support.window import Ui


def state(ui: Ui) -> str:
    return ui.last.message.state


def words(ui: Ui, name: str) -> str:
    return ui.find(QLabel, name).text()


def test_a_question_gets_its_answer(ui: Ui) -> None:
    ui.ask("Hi")
    assert ui.texts == ["Hi", "Hello there"]
    assert ui.edit.toPlainText() == ""
    assert ui.titles == ["Hi"]
    assert words(ui, "chatTitle") == "Hi"
    assert words(ui, "answerFacts") == "Starter guide · 100 tokens/s"
    more = ui.find(QLabel, "answerFacts").toolTip().splitlines()
    assert more[:3] == [words(ui, "answerFacts"), "2 tokens", "2 of 5 prompt tokens cached"]
    assert more[3] == moment(ui.last.message.created)


def test_when_it_was_asked_is_shown_with_the_actions_of_a_question(ui: Ui) -> None:
    ui.ask("Hi")
    assert not ui.has("askedAt")
    question = ui.page.transcript.view_of(ui.page.transcript.messages[0].id)
    assert question is not None
    question.footer.set_active(True)
    assert words(ui, "askedAt") == moment(question.message.created)


def test_a_second_question_goes_on_with_the_chat(ui: Ui) -> None:
    ui.ask("One")
    ui.ask("Two")
    assert ui.texts == ["One", "Hello there", "Two", "Hello there"]
    assert len(ui.window.findChildren(AnswerFooter)) == 1
    assert [turn.text for turn in ui.engine.requests[-1].messages] == ["One", "Hello there", "Two"]


def test_shift_enter_makes_a_line(ui: Ui) -> None:
    ui.type("a")
    ui.press("Shift+Return", ui.edit)
    ui.type("b")
    assert ui.edit.toPlainText() == "a\nb"
    ui.press("Return", ui.edit)
    ui.wait_for_answer()
    assert ui.texts[0] == "a\nb"


def test_ctrl_enter_sends_if_the_settings_say_so(ui: Ui) -> None:
    ui.presenters.settings.set("send_with", "ctrl+enter")
    ui.type("a")
    ui.press("Return", ui.edit)
    assert ui.edit.toPlainText() == "a\n"
    ui.press("Ctrl+Return", ui.edit)
    ui.wait_for_answer()
    assert ui.texts[0] == "a"


def test_nothing_is_sent_without_text(ui: Ui) -> None:
    ui.type("  ")
    ui.press("Return", ui.edit)
    assert ui.presenters.chats.page(ALL, 0, 9) == []


def test_escape_stops_and_continue_goes_on(ui: Ui, hold: threading.Event) -> None:
    hold.clear()
    ui.ask("Hi", wait=False)
    ui.wait_for_text("Hello")
    ui.press("Esc")
    ui.wait_for_answer()
    assert state(ui) == "stopped"
    assert words(ui, "endNote") == "You stopped this answer."
    hold.set()
    ui.engine.pieces = (" again",)
    ui.click("continueAnswer")
    ui.wait_for_text("Hello again")
    ui.wait_for_answer()
    assert state(ui) == "complete"
    assert ui.engine.requests[-1].messages[-1].role == "assistant"
    assert ui.texts == ["Hi", "Hello again"]


def test_an_answer_that_repeats_itself_is_ended_and_goes_on_anyway(ui: Ui) -> None:
    ui.engine.pieces = ("The same line again. ",) * 200
    ui.ask("Hi")
    assert words(ui, "endNote") == "This answer repeated itself and was ended."
    before = ui.texts[-1]
    assert len(before) < 1_700
    button = ui.window.findChild(QAbstractButton, "continueAnswer")
    assert button is not None
    assert button.text() == "Continue anyway"
    ui.click("continueAnswer")
    ui.wait_for_answer()
    assert state(ui) == "complete"
    _, answer = ui.app.chats.path(ui.last.message.chat_id)
    assert len(answer.text) >= len(before) + 200 * 21


def test_the_button_stops_while_an_answer_is_written(ui: Ui, hold: threading.Event) -> None:
    hold.clear()
    ui.ask("Hi", wait=False)
    ui.wait_for_text("Hello")
    ui.click("send")
    ui.wait_for_answer()
    assert state(ui) == "stopped"


@pytest.mark.parametrize("half", ["Half", ""])
def test_an_interrupted_answer_is_there_after_a_restart(ui: Ui, half: str) -> None:
    question, answer = ui.app.chats.ask(None, "Hi")
    with sqlite3.connect(ui.app.folder.database) as database:
        database.execute(
            "UPDATE messages SET text = ?, state = 'interrupted' WHERE id = ?", (half, answer.id)
        )
    database.close()
    ui.window.open_chat(question.chat_id)
    assert words(ui, "endNote") == "This answer was interrupted."
    ui.engine.pieces = (" and whole",)
    ui.click("continueAnswer")
    ui.wait_for_text(f"{half} and whole".strip())
    ui.wait_for_answer()


def test_another_answer_takes_the_place_of_the_last(ui: Ui) -> None:
    ui.ask("Hi")
    ui.engine.pieces = ("Better",)
    ui.press("Ctrl+R")
    ui.wait_for_text("Better")
    ui.wait_for_answer()
    assert ui.texts == ["Hi", "Better"]
    assert len(ui.app.chats.messages(ui.last.message.chat_id)) == 3


def test_a_failure_says_what_why_and_what_to_do(ui: Ui) -> None:
    ui.engine.error = NotEnoughMemory("Too big.", "It needs 18 GB.", "Use a smaller model.")
    ui.engine.pieces = ()
    ui.ask("Hi")
    ui.find(FailureCard)
    assert words(ui, "failureWhat") == "Too big."
    assert words(ui, "failureWhy") == "It needs 18 GB."
    assert words(ui, "failureDo") == "Use a smaller model."
    ui.engine.error, ui.engine.pieces = None, ("Fine",)
    ui.click("tryAgain")
    ui.wait_for_text("Fine")
    ui.wait_for_answer()
    ui.qtbot.waitUntil(lambda: not ui.window.findChildren(FailureCard))


def test_while_the_model_loads_its_progress_is_shown(ui: Ui) -> None:
    ui.ask("Hi")
    ui.last.show_answer(replace(ui.last.message, state="streaming"))
    line = ui.last.findChild(ProgressLine)
    assert line is not None
    ui.last.show_loading(0.43)
    assert words(ui, "progressText") == "Loading the model, 43 %"
    ui.last.show_prompt(4)
    assert words(ui, "progressText").startswith("One moment")
    assert words(ui, "leftOut") == "The oldest 4 messages no longer fit and were left out."


def test_while_a_long_prompt_is_read_its_progress_is_shown(ui: Ui, hold: threading.Event) -> None:
    """With nine files that takes minutes, in which nothing else happens."""
    hold.clear()
    ui.engine.pieces = (PromptProgress(2100, 4800, 65.0), "Hello")
    ui.ask("Hi", wait=False)
    reading = "Reading 2,100 of 4,800 tokens, about 1 min left"
    ui.qtbot.waitUntil(lambda: words(ui, "progressText").startswith(reading))
    chat_id = ui.page.chat_id
    ui.window.open_chat(None)
    ui.window.open_chat(chat_id)
    assert words(ui, "progressText").startswith(reading), "also after another chat was shown"
    hold.set()
    ui.wait_for_answer()
    assert ui.texts == ["Hi", "Hello"]
    assert not ui.has("progressText")


def test_a_question_that_cannot_be_saved_comes_back(
    ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise DiskFull("The disk is full.", "There is no room.", "Free some space.")

    monkeypatch.setattr(ui.app.chats, "ask", full)
    ui.ask("Precious", wait=False)
    ui.qtbot.waitUntil(lambda: ui.edit.toPlainText() == "Precious")
    assert words(ui, "toastLine1") == "The disk is full."
    ui.click("toastClose")


def test_an_answer_that_cannot_be_saved_says_so_until_it_can(
    ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "There is no room.", "Free some space.")

    with monkeypatch.context() as patched:
        patched.setattr(ui.app.chats, "save_answer", full)
        ui.ask("Hi")
        assert words(ui, "failureWhat") == "The disk is full."
        assert ui.texts == ["Hi", "Hello there"]
    ui.qtbot.waitUntil(lambda: not ui.has("failureWhat"))
    assert (state(ui), ui.texts) == ("complete", ["Hi", "Hello there"])
    ui.qtbot.waitUntil(lambda: ui.presenters.chats.page(ALL, 0, 1)[0].mark == "")


def test_drafts_are_kept_for_each_chat(ui: Ui) -> None:
    ui.ask("One")
    first = ui.page.chat_id
    ui.type("draft one")
    ui.press("Ctrl+N")
    assert ui.edit.toPlainText() == ""
    ui.type("draft new")
    ui.window.open_chat(first)
    assert ui.edit.toPlainText() == "draft one"
    ui.press("Ctrl+N")
    assert ui.edit.toPlainText() == "draft new"


def test_an_answer_goes_on_while_another_chat_is_read(ui: Ui, hold: threading.Event) -> None:
    ui.ask("One")
    first = ui.page.chat_id
    ui.press("Ctrl+N")
    ui.engine.pieces = ("Slow", " answer")
    hold.clear()
    ui.ask("Two", wait=False)
    ui.wait_for_text("Slow")
    second = ui.page.chat_id
    ui.window.open_chat(first)
    assert ui.texts == ["One", "Hello there"]
    ui.window.open_chat(second)
    assert ui.texts == ["Two", "Slow"]
    hold.set()
    ui.wait_for_text("Slow answer")
    ui.wait_for_answer()


def test_the_last_answer_is_copied_as_markdown(ui: Ui) -> None:
    ui.engine.pieces = ("**bold** `x`",)
    ui.ask("Hi")
    assert ui.texts[1] == "bold x"
    ui.press("Ctrl+Shift+C")
    assert QGuiApplication.clipboard().text() == "**bold** `x`"


def test_code_is_copied_with_the_keyboard(ui: Ui) -> None:
    ui.engine.pieces = ("```python\n", "a = 1\nb = 2\n", "```")
    ui.ask("Hi")
    button = ui.find(IconButton, "copyCode1")
    assert button.accessibleName() == "Copy code block 1, python"
    button.setFocus(Qt.FocusReason.TabFocusReason)
    ui.press("Space")
    assert QGuiApplication.clipboard().text() == "a = 1\nb = 2"


def test_a_bug_of_ours_is_reported_and_the_chat_goes_on(ui: Ui) -> None:
    ui.engine.error = RuntimeError("boom")
    with ui.qtbot.captureExceptions():
        ui.ask("Hi", wait=False)
        ui.qtbot.waitUntil(lambda: ui.has("copyReport"))
    assert state(ui) == "interrupted"
    ui.click("copyReport")
    assert "boom" in QGuiApplication.clipboard().text()
    assert "hearth.log" in QGuiApplication.clipboard().text()
    ui.engine.error = None
    ui.ask("And now?")
    assert ui.texts[-1] == "Hello there"


def test_what_a_terminal_wrote_in_this_chat_is_shown_with_the_next_question(ui: Ui) -> None:
    ui.ask("One")
    _, answer = ui.app.chats.ask(ui.page.chat_id, "From a terminal")
    ui.app.chats.save_answer(replace(answer, text="Its answer", state="complete"))
    ui.ask("Two")
    ui.qtbot.waitUntil(lambda: ui.texts[-1] == "Hello there")
    assert ui.texts == [
        "One", "Hello there", "From a terminal", "Its answer", "Two", "Hello there",
    ]  # fmt: skip
    assert len(ui.page.transcript.messages) == 6


def busy(*_: object) -> NoReturn:
    raise DatabaseBusy("The database of chats is busy.", "Another writes.", "Wait.")


def test_a_database_that_cannot_be_read_leaves_nothing_answering(
    ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ui.app.preparing, "prepare", busy)
        ui.ask("Hi")
    assert words(ui, "failureWhat") == "The database of chats is busy."
    ui.press("Ctrl+N")
    ui.ask("Again")
    assert ui.texts == ["Again", "Hello there"]


def test_an_answer_that_cannot_be_asked_for_again_leaves_nothing_answering(
    ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    ui.ask("Hi")
    with monkeypatch.context() as patch:
        patch.setattr(ui.app.chats, "answer_again", busy)
        ui.page.answers.do("regenerate")
        assert "busy" in words(ui, "toastLine1")
    ui.ask("Again")
    assert ui.texts == ["Hi", "Hello there", "Again", "Hello there"]
