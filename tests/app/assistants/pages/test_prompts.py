"""The page of the prompt library, and inserting prompts into a message."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QListWidget, QPlainTextEdit

from tests.support.window import Ui


def key(ui: Ui, which: Qt.Key) -> None:
    QTest.keyClick(ui.edit, which)


def choices(ui: Ui) -> list[str]:
    found = ui.find(QListWidget, "promptChoices")
    return [found.item(row).text().split("   ")[0] for row in range(found.count())]


def taken(ui: Ui, text: str) -> None:
    ui.qtbot.waitUntil(lambda: ui.edit.toPlainText() == text)


def test_a_slash_calls_the_list_and_enter_takes_a_prompt(ui: Ui) -> None:
    ui.presenters.prompts.create("Brief", "Be brief.")
    ui.presenters.prompts.create("Letter", "Dear Sir,\nyours")
    ui.type("/")
    assert choices(ui) == ["Brief", "Letter"]
    ui.type("let")
    assert choices(ui) == ["Letter"]
    key(ui, Qt.Key.Key_Return)
    taken(ui, "Dear Sir,\nyours")
    assert not ui.has("promptPopup")
    assert ui.engine.requests == [], "Enter took the prompt; it did not send"
    ui.edit.undo()
    assert ui.edit.toPlainText() == "/let"


def test_the_list_opens_anywhere_in_a_text(ui: Ui) -> None:
    """Behind characters that Qt counts as two, and behind a very long line, which is cut."""
    ui.presenters.prompts.create("Brief", "Be brief.")
    for before in ("\N{GRINNING FACE}\N{GRINNING FACE} ", "x" * 9_000 + " "):
        ui.edit.setPlainText(before)
        ui.edit.moveCursor(QTextCursor.MoveOperation.End)
        ui.press("Ctrl+P", ui.edit)
        ui.type("bri")
        assert choices(ui) == ["Brief"]
        key(ui, Qt.Key.Key_Return)
        taken(ui, f"{before}Be brief.")


def test_arrows_choose_and_escape_leaves_the_list(ui: Ui) -> None:
    ui.presenters.prompts.create("A", "first")
    ui.presenters.prompts.create("B", "second")
    ui.type("/")
    key(ui, Qt.Key.Key_Down)
    key(ui, Qt.Key.Key_Tab)
    taken(ui, "second")
    ui.edit.clear()
    ui.type("/")
    key(ui, Qt.Key.Key_Escape)
    assert not ui.has("promptPopup")
    assert ui.edit.toPlainText() == "/"


def test_what_fits_no_prompt_is_an_ordinary_message(ui: Ui) -> None:
    ui.presenters.prompts.create("A", "first")
    ui.ask("/etc/hosts is what?")
    assert ui.texts[0] == "/etc/hosts is what?"


def test_variables_are_asked_for_and_filled_in(ui: Ui) -> None:
    QGuiApplication.clipboard().setText("the letter")
    ui.presenters.prompts.create("Reply", "In a {{tone}} tone, {{tone}}: {{clipboard}} ({{date}})")
    ui.type("/rep")
    key(ui, Qt.Key.Key_Return)
    ui.qtbot.waitUntil(lambda: ui.has("variablesDialog"))
    QTest.keyClicks(ui.find(QLineEdit, "variable1"), "kind")
    ui.click("useVariables")
    ui.qtbot.waitUntil(lambda: ui.edit.toPlainText().startswith("In a kind tone, kind: the letter"))
    assert "{{" not in ui.edit.toPlainText()


def test_the_key_puts_a_prompt_where_the_cursor_is(ui: Ui) -> None:
    ui.presenters.prompts.create("Quote", "«{{selection}}»")
    ui.type("Say word now")
    cursor = ui.edit.textCursor()
    cursor.setPosition(4)
    cursor.setPosition(8, cursor.MoveMode.KeepAnchor)
    ui.edit.setTextCursor(cursor)
    ui.press("Ctrl+P")
    assert choices(ui) == ["Quote"]
    key(ui, Qt.Key.Key_Return)
    taken(ui, "Say «word» now")


def test_what_is_selected_in_an_answer_is_the_selection(ui: Ui) -> None:
    ui.presenters.prompts.create("Explain", "Explain: {{selection}}")
    ui.ask("Hi")
    ui.last.view.selectAll()
    ui.type("/exp")
    key(ui, Qt.Key.Key_Return)
    taken(ui, "Explain: Hello there")


def test_without_prompts_the_list_says_where_to_write_one(ui: Ui) -> None:
    ui.type("/")
    assert "Prompts" in ui.find(QLabel, "promptHint").text()


def test_a_prompt_is_made_changed_and_removed_on_its_page(ui: Ui) -> None:
    ui.press("Ctrl+Shift+L")
    assert ui.has("noPrompts")
    ui.click("newAssistant")
    ui.find(QLineEdit, "promptName").setText("/Letter")
    ui.find(QPlainTextEdit, "promptText").setPlainText("To {{name}}")
    assert "name" in ui.find(QLabel, "foundVariables").text()
    ui.click("savePrompt")
    ui.qtbot.waitUntil(lambda: [it.name for it in ui.presenters.prompts.all()] == ["Letter"])
    ui.qtbot.waitUntil(lambda: ui.has("editPrompt"))
    ui.click("editPrompt")
    ui.qtbot.waitUntil(lambda: ui.has("promptName"))
    ui.find(QLineEdit, "promptName").setText("Note")
    ui.click("savePrompt")
    ui.qtbot.waitUntil(lambda: ui.has("removePrompt"))
    ui.click("removePrompt")
    ui.qtbot.waitUntil(lambda: ui.presenters.prompts.all() == [])
    ui.window.notifier.undo()
    assert [it.name for it in ui.presenters.prompts.all()] == ["Note"]
