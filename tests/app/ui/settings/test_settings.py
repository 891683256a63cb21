"""The settings dialog follows from the settings model."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from app.core.errors import SettingsInvalid
from app.core.settings.declared import SECTIONS
from app.core.settings.fields import fields
from app.ui.settings.setting_row import SettingRow
from app.ui.settings.settings_dialog import SettingsDialog
from tests.app.ui.conftest import Ui, part
from tests.support.paths import ROOT


@pytest.fixture
def dialog(ui: Ui) -> SettingsDialog:
    ui.press("Ctrl+,")
    return ui.find(SettingsDialog)


def test_every_setting_has_its_row(dialog: SettingsDialog) -> None:
    rows = dialog.findChildren(SettingRow)
    shown = {f"setting-{name}" for name, field in fields().items() if field.in_form}
    assert {row.objectName() for row in rows} == shown
    for row in rows:
        assert row.editor.accessibleName()
        assert row.editor.accessibleDescription()
    assert part(dialog, QListWidget, "sections").count() == len(SECTIONS)
    dialog.close()


def test_widgets_follow_the_types(dialog: SettingsDialog) -> None:
    kinds = {
        "theme": QComboBox,
        "text_size": QSpinBox,
        "system_prompt": QPlainTextEdit,
        "temperature": QDoubleSpinBox,
        "model": QLineEdit,
        "offline": QCheckBox,
    }
    for name, kind in kinds.items():
        assert isinstance(dialog.findChild(kind, name), kind)
    size = part(dialog, QSpinBox, "text_size")
    assert (size.minimum(), size.maximum()) == (10, 32)
    dialog.close()


def turn_the_wheel(over: QWidget) -> None:
    middle = QPointF(over.rect().center())
    event = QWheelEvent(
        middle, over.mapToGlobal(middle), QPoint(), QPoint(0, -240), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(over, event)


def test_the_wheel_changes_only_the_field_that_has_the_focus(
    ui: Ui, dialog: SettingsDialog
) -> None:
    before = ui.app.settings.read()
    kinds = (QComboBox, QAbstractSpinBox)
    boxes = [box for kind in kinds for box in dialog.findChildren(kind)]
    assert len(boxes) > 15
    for box in boxes:
        turn_the_wheel(box)
    page = part(dialog, QDoubleSpinBox, "temperature")
    dialog.go_to("temperature")
    ui.qtbot.waitUntil(page.hasFocus)
    turn_the_wheel(page)
    ui.qtbot.waitUntil(lambda: ui.app.settings.read() != before)
    after = ui.app.settings.read()
    assert replace(after, temperature=before.temperature) == before
    dialog.close()


def test_every_field_of_the_window_leaves_the_wheel_to_its_page() -> None:
    made = re.compile(r"\b(QComboBox|QSpinBox|QDoubleSpinBox|QSlider)(\(|\):)")
    pages = (ROOT / "app" / "ui").rglob("*.py")
    makers = [it.name for it in pages if made.search(it.read_text("utf-8"))]
    assert makers == ["fields.py"]


def test_a_change_is_saved_at_once(ui: Ui, dialog: SettingsDialog) -> None:
    part(dialog, QComboBox, "send_with").setCurrentIndex(1)
    part(dialog, QDoubleSpinBox, "temperature").setValue(0.2)
    part(dialog, QListWidget, "sections").setCurrentRow(SECTIONS.index("Privacy"))
    QTest.mouseClick(ui.find(QCheckBox, "offline"), Qt.MouseButton.LeftButton)
    prompt = part(dialog, QPlainTextEdit, "system_prompt")
    QTest.keyClicks(prompt, "Be brief.")
    ui.qtbot.waitUntil(lambda: ui.app.settings.read().system_prompt == "Be brief.")
    saved = ui.app.settings.read()
    assert (saved.send_with, saved.temperature, saved.offline) == ("ctrl+enter", 0.2, True)
    assert ui.find(QPushButton, "offlineSwitch").text() == "Offline"
    dialog.close()


def test_text_that_was_just_typed_is_saved_when_the_dialog_closes(
    ui: Ui, dialog: SettingsDialog
) -> None:
    part(dialog, QListWidget, "sections").setCurrentRow(SECTIONS.index("Assistant"))
    QTest.keyClicks(ui.find(QPlainTextEdit, "system_prompt"), "Be kind.")
    dialog.close()
    assert ui.app.settings.read().system_prompt == "Be kind."


def test_a_refused_value_says_why(
    ui: Ui, dialog: SettingsDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, value: object) -> None:
        raise SettingsInvalid("No.", "It is odd.", "Take an even one.")

    monkeypatch.setattr(ui.presenters.settings, "set", refuse)
    part(dialog, QSpinBox, "text_size").setValue(15)
    problem = part(dialog, QLabel, "problem-text_size")
    assert problem.text() == "It is odd. Take an even one."
    assert problem.isVisible()
    dialog.close()


def test_searching_shows_the_rows_that_match(ui: Ui, dialog: SettingsDialog) -> None:
    QTest.keyClicks(part(dialog, QLineEdit, "searchSettings"), "likeliest share")
    visible = {row.objectName() for row in dialog.findChildren(SettingRow) if row.isVisible()}
    assert visible == {"setting-top_p", "setting-min_p"}
    dialog.close()


def test_the_data_folder_can_be_copied(ui: Ui, dialog: SettingsDialog) -> None:
    assert part(dialog, QLabel, "dataFolderPath").text() == str(ui.app.folder.root)
    ui.click("copyDataFolder")
    assert QGuiApplication.clipboard().text() == str(ui.app.folder.root)
    dialog.close()


def test_text_size_reaches_the_messages(ui: Ui) -> None:
    ui.ask("Hi")
    before = ui.last.view.height()
    ui.presenters.settings.set("text_size", 28)
    ui.qtbot.waitUntil(lambda: ui.last.view.height() > before)
    assert ui.texts == ["Hi", "Hello there"]
