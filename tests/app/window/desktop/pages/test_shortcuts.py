"""Changing the keys of commands."""

from __future__ import annotations

import json
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget

from app.window.desktop.pages.keys import refusal, with_keys
from app.window.desktop.pages.shortcut_row import KeyButton
from app.window.pages.actions import commands
from app.window.pages.shortcuts_dialog import ShortcutsDialog
from app.window.scratch.pages.scratch_window import ScratchWindow
from tests.support.reserved_keys import ON_MACOS, RESERVED
from tests.support.window import Ui

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def dialog(ui: Ui) -> ShortcutsDialog:
    ui.press("F1")
    return ui.find(ShortcutsDialog)


def record(ui: Ui, name: str, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> KeyButton:
    """Press the button of a command, then the keys, and return the button."""
    ui.click(f"keys-{name}")
    button = ui.find(KeyButton, f"keys-{name}")
    assert button.text() == "Press the keys…"
    QTest.keyClick(button, key, modifiers)
    return button


def keys(ui: Ui, name: str) -> list[str]:
    action = ui.window.findChild(QAction, name)
    assert isinstance(action, QAction)
    return [each.toString() for each in action.shortcuts()]


def test_other_keys_hold_at_once_and_are_kept(ui: Ui, dialog: ShortcutsDialog) -> None:
    button = record(ui, "show_models", Qt.Key.Key_U, CONTROL)
    assert button.text() == "Ctrl+U"
    assert keys(ui, "show_models") == ["Ctrl+U"]
    file = json.loads(ui.app.folder.settings.read_text())
    assert file["shortcuts"] == {"show_models": "Ctrl+U"}
    dialog.close()
    ui.press("Ctrl+M")
    assert not ui.has("modelsPage")
    ui.press("Ctrl+U")
    assert ui.has("modelsPage")


def test_keys_that_are_taken_are_refused_with_a_sentence(ui: Ui, dialog: ShortcutsDialog) -> None:
    button = record(ui, "show_models", Qt.Key.Key_N, CONTROL)
    said = ui.find(QLabel, "problem-show_models").text()
    assert said == "Ctrl+N is taken by “New chat”. Change that first."
    assert keys(ui, "show_models") == ["Ctrl+M"]
    QTest.keyClick(button, Qt.Key.Key_Space)
    QTest.keyClick(button, Qt.Key.Key_U, CONTROL)
    assert not ui.has("problem-show_models")
    dialog.close()


def test_a_shortcut_is_not_carried_out_while_it_is_recorded(
    ui: Ui, dialog: ShortcutsDialog
) -> None:
    record(ui, "new_chat", Qt.Key.Key_B, CONTROL)
    assert not ui.window.sidebar.isHidden()
    dialog.close()


def test_escape_goes_back_and_backspace_takes_away(ui: Ui, dialog: ShortcutsDialog) -> None:
    record(ui, "new_chat", Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    assert dialog.isVisible()
    assert keys(ui, "new_chat") == ["Ctrl+N"]
    button = record(ui, "new_chat", Qt.Key.Key_Backspace, Qt.KeyboardModifier.NoModifier)
    assert button.text() == "None"
    assert keys(ui, "new_chat") == []
    dialog.close()


def test_one_goes_back_or_all(ui: Ui, dialog: ShortcutsDialog) -> None:
    record(ui, "new_chat", Qt.Key.Key_U, CONTROL)
    record(ui, "show_models", Qt.Key.Key_N, CONTROL)
    assert keys(ui, "show_models") == ["Ctrl+N"]
    ui.click("reset-new_chat")
    assert "taken by “Models”" in ui.find(QLabel, "problem-new_chat").text()
    ui.click("reset-show_models")
    ui.click("reset-new_chat")
    assert keys(ui, "new_chat") == ["Ctrl+N"]
    assert ui.presenters.settings.current.shortcuts == {}
    record(ui, "quit", Qt.Key.Key_U, CONTROL)
    ui.click("resetShortcuts")
    assert keys(ui, "quit") == ["Ctrl+Q"]
    assert not ui.has("reset-quit")
    dialog.close()


def test_commands_are_found_by_their_keys_too(ui: Ui, dialog: ShortcutsDialog) -> None:
    search = ui.find(QLineEdit, "searchShortcuts")
    search.setText("ctrl+n")
    assert ui.has("shortcut-new_chat")
    assert not ui.has("shortcut-show_models")
    search.setText("models")
    assert ui.has("shortcut-show_models")
    assert not ui.has("shortcut-new_chat")
    dialog.close()


def test_keys_that_write_are_refused() -> None:
    assert "needed for writing" in refusal("new_chat", "A", {})
    assert "needed for writing" in refusal("new_chat", "Shift+Left", {})
    for keys in ("Ctrl+C", "Ctrl+Y", "Ctrl+Right", "Ctrl+Shift+End"):
        assert "needed for writing" in refusal("new_chat", keys, {}), keys
    assert refusal("new_chat", "F9", {}) == ""
    assert refusal("new_chat", "Ctrl+Alt+J", {}) == ""


def test_keys_that_were_given_up_are_free() -> None:
    assert refusal("show_models", "Ctrl+N", {"new_chat": ""}) == ""
    assert "New chat" in refusal("show_models", "Ctrl+U", {"new_chat": "Ctrl+U"})


def test_the_usual_keys_are_no_change() -> None:
    assert with_keys({"new_chat": "Ctrl+U"}, "new_chat", "Ctrl+N") == {}
    assert with_keys({}, "new_chat", "") == {"new_chat": ""}


def test_no_command_takes_a_key_of_a_system_or_an_input_method(ui: Ui) -> None:
    """Such a key does two things at once, or never comes to Hearth."""
    owners = {QKeySequence(key): owner for owner, keys in RESERVED.items() for key in keys}
    assert all(not key.isEmpty() for key in owners)
    ui.press("Ctrl+Shift+N")
    windows: list[QWidget] = [ui.window, ui.find(ScratchWindow)]
    actions = [action for window in windows for action in window.findChildren(QAction)]
    taken = {
        (action.objectName(), keys.toString(), owners[keys])
        for action in actions
        for keys in action.shortcuts()
        if keys in owners
    }
    taken |= {
        (command.name, keys, owners[QKeySequence(keys)])
        for command in commands()
        for keys in command.keys
        if QKeySequence(keys) in owners
    }
    assert len(actions) > len(commands())
    assert taken == set()
    ui.find(ScratchWindow).close_now()


def test_no_command_takes_a_key_of_macos_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    taken = [(command.name, keys) for command in commands() for keys in command.keys]
    assert ("show_models", "Meta+M") in taken
    assert [(name, keys) for name, keys in taken if keys in ON_MACOS] == []


def test_no_key_takes_a_chat_away_while_the_user_writes(ui: Ui) -> None:
    ui.ask("Hi")
    ui.presenters.settings.set("shortcuts", {"delete_chat": "Ctrl+D"})
    for field, open_field in (("", "Ctrl+L"), ("search", "Ctrl+K"), ("findWords", "Ctrl+F")):
        ui.press(open_field)
        focused = QApplication.focusWidget()
        assert focused is (ui.find(QLineEdit, field) if field else ui.edit)
        ui.press("Ctrl+D")
        assert ui.titles == ["Hi"]
    # A menu does it from everywhere, and the keys do it where nothing is written.
    ui.press("Esc")
    ui.press("F6")
    assert ui.last.view.hasFocus()
    ui.press("Ctrl+D")
    ui.qtbot.waitUntil(lambda: ui.titles == [])
    ui.press("Ctrl+Z")
    ui.qtbot.waitUntil(lambda: ui.titles == ["Hi"])
    ui.press("Ctrl+L")
    action = ui.window.findChild(QAction, "delete_chat")
    assert isinstance(action, QAction)
    action.trigger()
    ui.qtbot.waitUntil(lambda: ui.titles == [])


def test_the_table_agrees_with_itself() -> None:
    for command in commands():
        for each in command.keys:
            assert QKeySequence(each).toString() == each, command.name
            assert refusal(command.name, each, {}) == "", command.name
