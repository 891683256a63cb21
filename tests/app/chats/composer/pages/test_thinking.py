"""The reasoning switch at the composer, and the reasoning shown during and after an answer."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu, QPlainTextEdit, QPushButton

from app.chats.answers.services.in_progress import GrowingAnswer
from app.chats.composer.pages.thinking_switch import ThinkingSwitch
from app.chats.transcript.pages.reasoning import duration
from engines.types import ReasoningDelta, WasReasoning
from tests.support.made_thinker import write_thinker
from tests.support.window import Ui, part

LEVELS = {
    "thinking": "always",
    "thinks": True,
    "efforts": ("low", "medium", "high"),
    "effort": "medium",
}


@pytest.fixture
def thinker(ui: Ui, tmp_path: Path) -> str:
    """Use a model whose reasoning can be switched, and return its id."""
    ui.engine.says = {"thinking": "switch", "thinks": False}
    entry = ui.app.library.add(write_thinker(tmp_path / "thinker.gguf"))
    ui.presenters.settings.set("auto_titles", "false")
    ui.presenters.settings.set("model", entry.id)
    ui.qtbot.waitUntil(lambda: ui.has("thinking"))
    return entry.id


def choose(ui: Ui, key: str) -> None:
    """Press the switch and, if it opens a menu, choose the entry."""
    ui.click("thinking")
    menu = ui.window.findChild(QMenu, "thinkingChoices")
    if menu is not None:
        part(menu, QAction, f"think-{key}").trigger()
        menu.close()


def chosen(ui: Ui) -> str:
    return ui.find(ThinkingSwitch).choice


def asked_with(ui: Ui) -> list[bool | None]:
    return [request.thinking for request in ui.engine.requests]


def heading(ui: Ui) -> str:
    return part(ui.last, QPushButton, "showReasoning").text()


def test_where_a_model_cannot_be_asked_to_think_there_is_no_switch(ui: Ui, thinker: str) -> None:
    ui.presenters.settings.set("model", "Starter guide")
    ui.qtbot.waitUntil(lambda: not ui.has("thinking"))


def test_a_chat_has_a_switch_of_its_own(ui: Ui, thinker: str) -> None:
    assert chosen(ui) == "off", "as the model does by itself"
    ui.ask("One")
    first = ui.page.chat_id
    choose(ui, "on")
    ui.ask("Two")
    ui.press("Ctrl+N")
    assert chosen(ui) == "off"
    choose(ui, "on")
    ui.ask("Three")
    assert chosen(ui) == "on"
    ui.window.open_chat(first)
    assert chosen(ui) == "on"
    choose(ui, "off")
    ui.ask("Four")
    assert asked_with(ui) == [None, True, True, False]


def test_the_keyboard_reaches_it_and_moves_it(ui: Ui, thinker: str) -> None:
    ui.edit.setFocus()
    ui.press("Tab", ui.edit)
    ui.press("Tab")
    assert QApplication.focusWidget() is ui.find(ThinkingSwitch)
    ui.press("Space")
    assert chosen(ui) == "on"
    assert ui.find(ThinkingSwitch).isChecked()
    ui.press("Space")
    assert chosen(ui) == "off"
    assert not ui.find(ThinkingSwitch).isChecked()


def test_the_settings_hold_until_it_is_moved(ui: Ui, thinker: str) -> None:
    ui.presenters.settings.set("thinking", "on")
    ui.presenters.settings.set("thinking_budget", "64")
    assert chosen(ui) == "on"
    ui.ask("One")
    assert (ui.engine.requests[0].thinking, ui.engine.requests[0].thinking_budget) == (True, 64)
    choose(ui, "off")
    ui.ask("Two")
    assert asked_with(ui) == [True, False]


def test_a_model_that_knows_levels_is_given_one(ui: Ui, thinker: str) -> None:
    ui.engine.says = LEVELS
    ui.ask("One")
    assert chosen(ui) == "medium"
    choose(ui, "high")
    ui.ask("Two")
    assert [request.effort for request in ui.engine.requests] == [None, "high"]
    assert chosen(ui) == "high"
    assert ui.find(ThinkingSwitch).text() == "Think: High"
    ui.click("thinking")
    menu = ui.window.findChild(QMenu, "thinkingChoices")
    assert menu is not None
    assert [it.text() for it in menu.actions()] == ["Low", "Medium", "High"]
    assert [it.text() for it in menu.actions() if it.isChecked()] == ["High"]
    menu.close()


def test_reasoning_is_folded_and_says_how_long_it_takes(
    ui: Ui, hold: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GrowingAnswer, "reasoning_s", 0.2)  # however busy the computer is
    hold.clear()
    ui.engine.pieces = (ReasoningDelta("\nHm, "), ReasoningDelta("a sum.\n"), "It is 4.")
    ui.ask("Two and two?", wait=False)
    ui.qtbot.waitUntil(lambda: ui.has("showReasoning"))
    text = part(ui.last, QPlainTextEdit, "reasoningText")
    assert heading(ui).startswith("Thinking … ")
    assert not text.isVisible()
    assert not ui.has("progressLine")
    hold.set()
    ui.wait_for_answer()
    assert heading(ui) == "Thought for a moment"
    assert text.document().isEmpty(), "nothing is laid out that nobody sees"
    ui.click("showReasoning")
    assert text.isVisible()
    assert text.toPlainText() == "Hm, a sum."
    assert ui.texts[-1] == "It is 4."
    ui.click("copyReasoning")
    assert QGuiApplication.clipboard().text() == "Hm, a sum."
    ui.click("showReasoning")
    assert not ui.has("copyReasoning")


def test_unfolded_it_grows_at_its_end(ui: Ui, hold: threading.Event) -> None:
    hold.clear()
    ui.engine.pieces = (ReasoningDelta("One.\n\n"), *[ReasoningDelta("Two. ")] * 3, "4")
    ui.ask("Two and two?", wait=False)
    ui.qtbot.waitUntil(lambda: ui.has("showReasoning"))
    ui.click("showReasoning")
    text = part(ui.last, QPlainTextEdit, "reasoningText")
    assert text.toPlainText() == "One."
    height = text.height()
    hold.set()
    ui.wait_for_answer()
    assert text.toPlainText() == "One.\n\nTwo. Two. Two."
    assert text.height() > height


def test_it_is_there_when_the_chat_is_opened_again(ui: Ui) -> None:
    ui.engine.pieces = (ReasoningDelta("Hm."), "4")
    ui.ask("Two and two?")
    chat = ui.page.chat_id
    assert chat is not None
    answer = ui.app.chats.path(chat)[-1]
    assert (answer.reasoning, answer.text) == ("Hm.", "4")
    ui.press("Ctrl+N")
    ui.window.open_chat(chat)
    ui.click("showReasoning")
    assert part(ui.last, QPlainTextEdit, "reasoningText").toPlainText() == "Hm."


def test_an_answer_that_turns_out_to_be_reasoning(ui: Ui) -> None:
    ui.engine.pieces = ("Hm, ", "a sum.", WasReasoning(), "It is 4.")
    ui.ask("Two and two?")
    assert ui.texts[-1] == "It is 4."
    ui.click("showReasoning")
    assert part(ui.last, QPlainTextEdit, "reasoningText").toPlainText() == "Hm, a sum."
    assert ui.page.chat_id is not None
    answer = ui.app.chats.path(ui.page.chat_id)[-1]
    assert (answer.reasoning, answer.text) == ("Hm, a sum.", "It is 4.")


def test_reasoning_that_was_stopped_is_gone_on_with(ui: Ui, hold: threading.Event) -> None:
    hold.clear()
    ui.engine.pieces = (ReasoningDelta("Hm, "), "never")
    ui.ask("Two and two?", wait=False)
    ui.qtbot.waitUntil(lambda: ui.has("showReasoning"))
    ui.press("Esc")
    ui.qtbot.waitUntil(lambda: ui.last.message.state == "stopped")
    hold.set()
    ui.engine.pieces = (ReasoningDelta("a sum."), "It is 4.")
    ui.page.answers.do("go_on")
    ui.qtbot.waitUntil(lambda: ui.last.message.state == "complete")
    sent = ui.engine.requests[-1].messages[-1]
    assert (sent.role, sent.text, sent.reasoning) == ("assistant", "", "Hm, ")
    assert (ui.last.message.reasoning, ui.last.message.text) == ("Hm, a sum.", "It is 4.")


def test_durations() -> None:
    assert [duration(it) for it in (0, 12, 60, 185)] == ["0 s", "12 s", "1 min 0 s", "3 min 5 s"]
