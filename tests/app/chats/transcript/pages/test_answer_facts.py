"""Copying and quoting answers, showing their facts, and reproducing them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDoubleSpinBox, QLabel, QLineEdit, QSpinBox

from app.base.language import translated
from app.chats.transcript.pages.again_dialog import AgainDialog
from app.chats.transcript.pages.answer_facts_card import AnswerFactsCard
from app.models.library.pages.model_picker import ModelPicker
from tests.engines.gguf_files import write_llama
from tests.support.chat_messages import act, asked, branch, choose, open_menus, view
from tests.support.window import Ui, part

CODE = "Before **it**\n\n```python\nx = 1\n\ny = 2\n```\n\nAfter"


def test_an_answer_is_copied_as_markdown_or_as_plain_text(ui: Ui) -> None:
    ui.engine.pieces = (CODE,)
    ui.ask("Hi")
    act(ui, 1, "copy")
    assert QGuiApplication.clipboard().text() == CODE
    act(ui, 1, "copy_plain")
    assert QGuiApplication.clipboard().text() == "Before it\nx = 1\n\ny = 2\nAfter"


def test_a_selection_that_spans_code_is_quoted_with_the_code_fenced(ui: Ui) -> None:
    ui.engine.pieces = (CODE,)
    ui.ask("Hi")
    ui.type("I think")
    shown = view(ui, 1).view
    cursor = QTextCursor(shown.document())
    text = shown.toPlainText()
    cursor.setPosition(text.index("it"))
    cursor.setPosition(text.index("After") + 2, QTextCursor.MoveMode.KeepAnchor)
    shown.setTextCursor(cursor)
    act(ui, 1, "quote")
    assert ui.edit.toPlainText() == (
        "I think\n\n> it\n> ```python\n> x = 1\n>\n> y = 2\n> ```\n> Af\n\n"
    )
    assert ui.edit.hasFocus()


def test_a_selection_inside_code_is_quoted_as_code(ui: Ui) -> None:
    ui.engine.pieces = (CODE,)
    ui.ask("Hi")
    shown = view(ui, 1).view
    cursor = QTextCursor(shown.document())
    start = shown.toPlainText().index("y = 2")
    cursor.setPosition(start)
    cursor.setPosition(start + 5, QTextCursor.MoveMode.KeepAnchor)
    shown.setTextCursor(cursor)
    ui.press("Ctrl+Shift+9", shown)
    assert ui.edit.toPlainText() == "> ```python\n> y = 2\n> ```\n\n"


def test_without_a_selection_the_whole_message_is_quoted(ui: Ui) -> None:
    ui.ask("Line one")
    act(ui, 0, "quote")
    assert ui.edit.toPlainText() == "> Line one\n\n"


def test_the_facts_of_an_answer_are_there_on_demand(ui: Ui) -> None:
    ui.ask("Hi")
    ui.press("Ctrl+I")
    card = ui.find(AnswerFactsCard)
    shown = card.accessibleDescription()
    for fact in ("Starter guide", "scripted", "100.0 tokens/s", "First token after: 0.01 s",
                 "5 tokens, 2 of them cached", "Seed: 7", "temperature 0"):  # fmt: skip
        assert fact in shown
    ui.click("copyFacts")
    assert "Seed: 7" in QGuiApplication.clipboard().text()
    ui.qtbot.waitUntil(lambda: not ui.has("factsCard"))


def test_a_german_window_names_the_guide_in_german(german: None, ui: Ui) -> None:
    ui.ask("Hi", wait=False)
    name = translated("Starter guide")
    assert name != "Starter guide"
    facts = ui.find(QLabel, "answerFacts")
    assert facts.text().startswith(name)
    assert facts.toolTip().startswith(name)
    ui.press("Ctrl+I")
    assert name in ui.find(AnswerFactsCard).accessibleDescription()


def test_guessed_figures_are_shown_as_such_and_without_a_speed(ui: Ui) -> None:
    ui.engine.guesses = True
    ui.ask("Hi")
    more = ui.find(QLabel, "answerFacts").toolTip().splitlines()
    assert more[:2] == ["Starter guide", "about 2 tokens"]
    ui.press("Ctrl+I")
    shown = ui.find(AnswerFactsCard).accessibleDescription()
    assert "Answer: about 2 tokens" in shown
    assert "tokens/s" not in shown


def test_an_answer_is_reproduced_from_its_facts(ui: Ui) -> None:
    ui.ask("Hi")
    ui.press("Ctrl+I")
    ui.click("reproduce")
    ui.qtbot.waitUntil(lambda: len(asked(ui)) == 2)
    ui.wait_for_answer()
    assert asked(ui)[-1].sampling.seed == 7
    ui.qtbot.waitUntil(lambda: ui.has("toastLine1"))
    assert "word for word" in ui.find(QLabel, "toastLine1").text()
    assert branch(ui) == "2/2"


def test_where_the_model_has_gone_that_is_said_in_three_parts(ui: Ui) -> None:
    ui.ask("Hi")
    kept = json.loads(ui.last.message.asked)
    with sqlite3.connect(ui.app.folder.database) as database:
        database.execute(
            "UPDATE messages SET asked = ? WHERE id = ?",
            (json.dumps({**kept, "model": "gone", "name": "Gone 7B"}), ui.last.message.id),
        )
    database.close()
    ui.page.reload()
    act(ui, 1, "reproduce")
    ui.qtbot.waitUntil(lambda: ui.has("toastLine3"))
    assert "Gone 7B" in ui.find(QLabel, "toastLine2").text()
    assert len(asked(ui)) == 1
    ui.click("toastClose")


def test_where_the_file_has_changed_the_user_is_asked(ui: Ui) -> None:
    ui.ask("Hi")
    kept = json.loads(ui.last.message.asked)
    kept["files"][0]["size"] += 1
    with sqlite3.connect(ui.app.folder.database) as database:
        database.execute(
            "UPDATE messages SET asked = ? WHERE id = ?",
            (json.dumps(kept), ui.last.message.id),
        )
    database.close()
    ui.page.reload()
    act(ui, 1, "reproduce")
    assert "file has changed" in ui.find(QLabel, "line1").text()
    assert len(asked(ui)) == 1
    ui.click("reproduce")
    ui.qtbot.waitUntil(lambda: len(asked(ui)) == 2)
    ui.wait_for_answer()


def test_an_answer_again_more_exact_and_in_other_settings(ui: Ui) -> None:
    ui.ask("Hi")
    act(ui, 1, "again_menu")
    choose(ui, "againExact")
    ui.qtbot.waitUntil(lambda: len(asked(ui)) == 2)
    ui.wait_for_answer()
    assert asked(ui)[-1].sampling.temperature == 0.2
    act(ui, 1, "again_menu")
    choose(ui, "againSettings")
    dialog = ui.find(AgainDialog)
    part(dialog, QDoubleSpinBox, "againTemperature").setValue(1.3)
    part(dialog, QLineEdit, "againSeed").setText("42")
    part(dialog, QSpinBox, "againMaxTokens").setValue(9)
    ui.click("againGo")
    ui.qtbot.waitUntil(lambda: len(asked(ui)) == 3)
    ui.wait_for_answer()
    request = asked(ui)[-1]
    assert (request.sampling.temperature, request.sampling.seed, request.max_tokens) == (1.3, 42, 9)
    assert branch(ui) == "3/3"


def test_an_answer_again_with_another_model_that_is_found_by_typing(ui: Ui, tmp_path: Path) -> None:
    ui.ask("Hi")
    act(ui, 1, "again_menu")
    (menu,) = open_menus()
    assert not part(menu, QAction, "againModel").isEnabled(), "there is no other yet"
    menu.close()
    entry = ui.app.library.add(write_llama(tmp_path / "other.gguf"))
    ui.presenters.models.look()
    ui.qtbot.waitUntil(lambda: entry.id in [it.id for it in ui.window.chooser.entries()])
    act(ui, 1, "again_menu")
    choose(ui, "againModel")
    picker = ui.find(ModelPicker)
    QTest.keyClicks(picker.list.field, "oth")
    QTest.keyClick(picker.list.field, Qt.Key.Key_Return)
    ui.qtbot.waitUntil(lambda: len(asked(ui)) == 2)
    ui.wait_for_answer()
    assert ui.last.message.facts is not None
    assert ui.last.message.facts.model == "other"


def test_the_menu_of_a_message_opens_with_the_right_button_and_names_what_can_be_done(
    ui: Ui,
) -> None:
    ui.ask("Hi")
    view(ui, 1).view.customContextMenuRequested.emit(view(ui, 1).view.rect().center())
    ui.qtbot.waitUntil(lambda: bool(open_menus()))
    names = {action.objectName() for menu in open_menus() for action in menu.actions()} - {""}
    assert {"act-copy", "act-copy_plain", "act-quote", "act-edit", "act-facts", "act-reproduce",
            "act-branches", "act-delete"} <= names  # fmt: skip
    for menu in open_menus():
        menu.close()
