"""A word that an input method is still composing counts wherever the text is used."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit, QWidget

from app.settings.pages.settings_dialog import SettingsDialog
from app.window.desktop.pages.quick_ask import QuickAsk
from tests.support.window import Ui, part

WORD = "東京"


def compose(ui: Ui, field: QWidget) -> None:
    """Show a word in a field as an input method does before it is chosen."""
    ui.qtbot.waitUntil(field.hasFocus)
    QApplication.postEvent(field, QInputMethodEvent(WORD, []))
    QApplication.processEvents()


def test_a_message_is_sent_with_the_word_that_is_being_composed(ui: Ui) -> None:
    compose(ui, ui.edit)
    ui.click("send")  # without a loss of the focus, and without other text
    ui.wait_for_answer()
    QTest.keyClicks(ui.edit, "A")
    compose(ui, ui.edit)
    ui.press("Return", ui.edit)
    ui.wait_for_answer()
    ui.presenters.settings.set("send_with", "ctrl+enter")
    QTest.keyClicks(ui.edit, "B")
    compose(ui, ui.edit)
    ui.press("Return", ui.edit)
    compose(ui, ui.edit)
    ui.press("Ctrl+Return", ui.edit)
    ui.wait_for_answer()
    assert ui.texts[::2] == [WORD, f"A{WORD}", f"B{WORD}\n{WORD}"]
    # A change of the chat keeps it in the draft of the chat that it was written in.
    chat = ui.page.chat_id
    compose(ui, ui.edit)
    ui.press("Ctrl+N")
    assert ui.edit.toPlainText() == ""
    ui.window.open_chat(chat)
    assert ui.edit.toPlainText() == WORD
    ui.edit.clear()
    # An edited question and quick ask have fields and buttons of their own.
    ui.press("Ctrl+E")
    edit = ui.find(QPlainTextEdit, "inlineEditText")
    edit.clear()
    compose(ui, edit)
    ui.click("inlineEditDone")
    ui.qtbot.waitUntil(lambda: ui.texts[-2] == WORD)
    ui.wait_for_answer()
    ui.window.desktop.quick_ask()
    quick = ui.find(QuickAsk)
    quick.activateWindow()
    ui.qtbot.waitUntil(quick.edit.hasFocus)
    compose(ui, quick.edit)
    ui.click("quickSend")
    ui.qtbot.waitUntil(lambda: quick.chat_id is not None)
    assert quick.chat_id is not None
    asked = ui.app.chats.messages(quick.chat_id)[0]
    assert asked.text == WORD
    quick.close()
    ui.settle()


def test_a_name_is_saved_with_the_word_that_is_being_composed(ui: Ui) -> None:
    ui.ask("Hi")
    for by_enter in (True, False):
        ui.press("F2")
        field = ui.find(QLineEdit, "renameRow")
        field.clear()
        compose(ui, field)
        if by_enter:
            ui.press("Return")
        else:
            ui.edit.setFocus()
        ui.qtbot.waitUntil(lambda: ui.titles == [WORD])
        chat = ui.page.chat_id
        assert chat is not None
        ui.presenters.chats.rename(chat, "Hi")
        ui.qtbot.waitUntil(lambda: ui.titles == ["Hi"])
    ui.press("Ctrl+Shift+L")
    ui.click("newAssistant")
    name, text = ui.find(QLineEdit, "promptName"), ui.find(QPlainTextEdit, "promptText")
    name.setFocus()
    compose(ui, name)
    text.setFocus()
    assert name.text() == WORD
    compose(ui, text)
    ui.click("savePrompt")
    ui.qtbot.waitUntil(lambda: [it.text for it in ui.presenters.prompts.all()] == [WORD])


def test_a_search_and_a_setting_take_the_word_that_is_being_composed(ui: Ui) -> None:
    ui.engine.pieces = (f"Welcome to {WORD}",)
    ui.ask("Hi")
    ui.press("Ctrl+F")
    compose(ui, ui.find(QLineEdit, "findWords"))
    ui.press("Return")
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "findCount").text() == "1 of 1")
    ui.press("Ctrl+K")
    compose(ui, ui.find(QLineEdit, "search"))
    ui.press("Return")
    assert ui.window.sidebar.search.text() == WORD
    ui.press("Ctrl+,")
    dialog = ui.find(SettingsDialog)
    for name, leaves in (
        ("quick_ask_keys", lambda: ui.press("Return")),
        ("system_prompt", dialog.close),
    ):
        dialog.go_to(name)
        field = part(dialog, QWidget, name)
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        compose(ui, field)
        leaves()
        assert getattr(ui.presenters.settings.current, name) == WORD
