"""The settings dialog, which is built from the settings model."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication, QWheelEvent
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
    QScrollArea,
    QSpinBox,
    QWidget,
)

from app.base.errors import SettingsInvalid
from app.help.pages.licence_list import LicenceDialog
from app.settings.pages.setting_row import SettingRow
from app.settings.pages.settings_dialog import SettingsDialog
from app.settings.values.declared import SECTIONS
from app.settings.values.fields import fields
from tests.support.paths import ROOT
from tests.support.window import Ui, part


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
    assert part(dialog, QListWidget, "sections").count() == len(SECTIONS) + 1
    dialog.close()


def test_widgets_follow_the_types(dialog: SettingsDialog) -> None:
    kinds = {
        "theme": QComboBox,
        "text_size": QSpinBox,
        "system_prompt": QPlainTextEdit,
        "temperature": QDoubleSpinBox,
        "model": QComboBox,
        "quick_ask_keys": QLineEdit,
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
    pages = (ROOT / "app").rglob("*.py")
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


def test_a_search_goes_over_all_sections_by_other_words_too(ui: Ui, dialog: SettingsDialog) -> None:
    search = part(dialog, QLineEdit, "searchSettings")
    QTest.keyClicks(search, "dark mode")
    assert ui.has("setting-theme")
    search.clear()
    QTest.keyClicks(search, "gpu")
    assert {"setting-gpu_layers", "setting-devices"} <= visible(dialog)
    search.clear()
    QTest.keyClicks(search, "xyzzy")
    assert visible(dialog) == set()
    assert ui.has("noSetting")
    search.clear()
    assert not ui.has("noSetting")
    assert "setting-theme" in visible(dialog)
    assert "setting-gpu_layers" not in visible(dialog)
    dialog.close()


def visible(dialog: SettingsDialog) -> set[str]:
    return {row.objectName() for row in dialog.findChildren(SettingRow) if row.isVisible()}


def test_a_changed_setting_says_so_and_can_be_reset(ui: Ui, dialog: SettingsDialog) -> None:
    assert not ui.has("reset-text_size")
    part(dialog, QSpinBox, "text_size").setValue(20)
    assert ui.has("differs-text_size")
    ui.click("reset-text_size")
    assert part(dialog, QSpinBox, "text_size").value() == 14
    assert ui.app.settings.read().text_size == 14
    assert not ui.has("differs-text_size")
    dialog.close()


@pytest.mark.parametrize(
    ("name", "changed"),
    [("offline", True), ("theme", "dark"), ("system_prompt", "Be brief."), ("temperature", 0.1)],
)
def test_what_is_changed_elsewhere_is_shown_and_reset_like_any(
    ui: Ui, dialog: SettingsDialog, name: str, changed: object
) -> None:
    dialog.go_to(name)
    before = ui.app.settings.read().values()[name]
    ui.presenters.settings.set(name, changed)
    ui.click(f"reset-{name}")
    assert ui.app.settings.read().values()[name] == before
    ui.settle()  # wait for the typing timer, which must not save the former text
    assert ui.app.settings.read().values()[name] == before
    dialog.close()


def test_numbers_have_units_and_words_for_those_that_mean_something(
    dialog: SettingsDialog,
) -> None:
    shown = {
        "context": "Automatic", "gpu_layers": "Automatic", "max_tokens": "No limit",
        "zoom": "100 %", "text_size": "14 px", "kv_memory": "512 MB", "top_k": "40",
    }  # fmt: skip
    assert {name: part(dialog, QSpinBox, name).text() for name in shown} == shown
    assert part(dialog, QDoubleSpinBox, "download_limit").text() == "No limit"
    dialog.close()


def test_no_help_text_explains_a_number_that_shows_as_a_word() -> None:
    odd = re.compile(r"(?<![\d.])-?[01] (chooses|takes what|is none|is off|keeps only|makes none)")
    for name, field in fields().items():
        if field.lowest_label:
            assert not odd.search(field.description), name
            assert field.ge is not None, name


def test_the_model_is_chosen_from_those_that_are_here(ui: Ui, dialog: SettingsDialog) -> None:
    dialog.go_to("model")
    box = part(dialog, QComboBox, "model")
    assert box.currentText() == "Starter guide"
    assert [box.itemData(at) for at in range(box.count())] == [
        it.id for it in ui.window.chooser.entries()
    ]
    dialog.close()


def test_about_says_versions_and_folders(
    ui: Ui, dialog: SettingsDialog, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []

    def take(url: QUrl) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", take)
    part(dialog, QListWidget, "sections").setCurrentRow(len(SECTIONS))
    card = part(dialog, QWidget, "aboutHearth")

    def texts() -> set[str]:
        return {child.text() for child in card.findChildren(QLabel)}

    ui.qtbot.waitUntil(lambda: texts() >= {"Python", "Qt", "llama.cpp", "SQLite", qVersion()})
    ui.click("open-logs")
    assert [it.toLocalFile() for it in opened] == [str(ui.app.folder.logs)]
    ui.click("copyDetails")
    assert f"Qt: {qVersion()}" in QGuiApplication.clipboard().text()
    assert str(ui.app.folder.root) in QGuiApplication.clipboard().text()
    dialog.close()


def shown_licences(dialog: SettingsDialog) -> list[str]:
    rows = part(dialog, QListWidget, "licences")
    items = [rows.item(at) for at in range(rows.count())]
    return [item.text() for item in items if not item.isHidden()]


def test_a_search_finds_parts_and_a_click_opens_the_licence(ui: Ui, dialog: SettingsDialog) -> None:
    part(dialog, QListWidget, "sections").setCurrentRow(len(SECTIONS))
    ui.qtbot.waitUntil(lambda: len(shown_licences(dialog)) > 50)
    assert "Inter 4.001  ·  OFL-1.1" in shown_licences(dialog)
    search = part(dialog, QLineEdit, "searchLicences")
    search.setText("qt lgpl")
    assert [it.split()[0] for it in shown_licences(dialog)] == ["Qt"]
    rows = part(dialog, QListWidget, "licences")
    item = next(rows.item(at) for at in range(rows.count()) if not rows.item(at).isHidden())
    where = rows.visualItemRect(item).center()
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=where)
    ui.qtbot.waitUntil(lambda: bool(dialog.findChildren(LicenceDialog)))
    licence = dialog.findChildren(LicenceDialog)[0]
    assert "may replace" in part(licence, QLabel, "licenceNotice").text()
    text = part(licence, QPlainTextEdit, "licenceText").toPlainText()
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in text
    assert "GNU GENERAL PUBLIC LICENSE" in text
    ui.click("closeLicence")
    search.setText("no such part")
    assert part(dialog, QLabel, "noLicence").isVisible()
    dialog.close()


@pytest.mark.parametrize(("width", "zoom"), [(800, 100), (800, 200), (540, 100)])
@pytest.mark.usefixtures("german")
def test_nothing_is_wider_than_the_dialog(ui: Ui, width: int, zoom: int) -> None:
    ui.presenters.settings.set("zoom", zoom)
    ui.press("Ctrl+,")
    dialog = ui.find(SettingsDialog)
    dialog.resize(width, 560)
    for number in range(len(SECTIONS) + 1):
        part(dialog, QListWidget, "sections").setCurrentRow(number)
        QApplication.processEvents()
        area = part(dialog, QScrollArea, "settingsArea")
        page = area.widget()
        assert page is not None
        assert page.width() <= area.viewport().width(), SECTIONS[number : number + 1]
    assert dialog.width() == width
    dialog.close()


def test_text_size_reaches_the_messages(ui: Ui) -> None:
    ui.ask("Hi")
    before = ui.last.view.height()
    ui.presenters.settings.set("text_size", 28)
    ui.qtbot.waitUntil(lambda: ui.last.view.height() > before)
    assert ui.texts == ["Hi", "Hello there"]
