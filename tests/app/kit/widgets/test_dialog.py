"""Enter presses the button that has the focus; tests/e2e/looks walks over every page for it."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog

from app.kit.widgets.message_dialog import MessageDialog
from tests.support.paths import ROOT
from tests.support.window import Ui, part


def enter_on(dialog: QDialog, name: str) -> None:
    button = part(dialog, QAbstractButton, name)
    button.setFocus()
    assert dialog.focusWidget() is button
    QTest.keyClick(button, Qt.Key.Key_Return)
    QApplication.processEvents()


@pytest.mark.parametrize(
    ("command", "dialog", "button"),
    [
        ("import_chats", "importDialog", "importClose"),
        ("show_branches", "treeDialog", "treeClose"),
        ("export_chat", "exportDialog", "exportCancel"),
    ],
)
def test_enter_on_the_way_out_leaves(ui: Ui, command: str, dialog: str, button: str) -> None:
    ui.ask("Hi")
    next(it for it in ui.window.actions() if it.objectName() == command).trigger()
    shown = ui.find(QDialog, dialog)
    enter_on(shown, button)
    ui.qtbot.waitUntil(lambda: not ui.has(dialog))
    assert len(ui.texts) == 2


def test_enter_on_an_answer_gives_that_answer_and_elsewhere_the_main_one(ui: Ui) -> None:
    given: list[str] = []
    answers = [("keep", "Keep it"), ("other", "Another"), ("go", "Go")]
    for name in ("keep", "other", ""):
        dialog = MessageDialog(["A question"], answers, details="Long", parent=ui.window)
        dialog.answered.connect(given.append)
        dialog.open()
        if name:
            enter_on(dialog, name)
        else:
            QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert given == ["keep", "other", "go"]


def test_enter_presses_a_switch_of_the_settings_and_nothing_from_the_search(ui: Ui) -> None:
    ui.press("Ctrl+,")
    dialog = ui.find(QDialog, "settingsDialog")
    QTest.keyClicks(dialog.focusWidget(), "tray")
    QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
    assert ui.has("settingsDialog")
    assert ui.app.settings.read().changes() == {}
    enter_on(dialog, "announce")
    assert ui.app.settings.read().changes() == {"announce": False}
    dialog.close()


def test_enter_presses_a_button_of_the_window_that_tab_has_come_to(ui: Ui) -> None:
    ui.ask("Hi")
    ui.press("Ctrl+K")
    models = part(ui.window, QAbstractButton, "showModels")
    while not models.hasFocus():
        ui.press("Tab")
    ui.press("Return")
    assert ui.has("modelsPage")
    part(ui.window, QAbstractButton, "backToChat").setFocus()
    ui.press("Enter")
    assert ui.has("composer")
    # Of the search in a chat, a button does its own work and not that of the field.
    ui.press("Ctrl+F")
    part(ui.window, QAbstractButton, "findClose").setFocus()
    ui.press("Return")
    assert not ui.has("findBar")
    # A key that is held down presses once.
    pressed: list[bool] = []
    switch = part(ui.window, QAbstractButton, "offlineSwitch")
    switch.setFocus()
    switch.clicked.connect(lambda: pressed.append(True))
    for repeats in (False, True, True):
        key = QKeyEvent(
            QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "", repeats
        )
        QApplication.sendEvent(switch, key)
    assert len(pressed) == 1


def test_every_dialog_hears_enter_at_its_buttons() -> None:
    bare = re.compile(r"class (\w+)\(QDialog\)")
    pages = (ROOT / "app").rglob("*.py")
    found = {name for it in pages for name in bare.findall(it.read_text("utf-8"))}
    # The palette has no buttons, and the settings have no main button and handle Enter themselves.
    assert found == {"EnterDialog", "Palette", "SettingsDialog"}
