"""Nothing moves under the pointer when a setting is changed: the next click hits its target."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QAbstractButton, QComboBox, QDoubleSpinBox, QSpinBox, QWidget

from app.assistants.pages.layered_setting import LayeredSetting
from app.settings.pages.setting_row import SettingRow
from app.settings.pages.settings_dialog import SettingsDialog
from app.settings.values.declared import SECTIONS
from app.settings.values.fields import fields, section_of
from tests.support.window import Ui, part


def places(root: QWidget, kind: type[QWidget]) -> dict[str, QRect]:
    """The place of each visible part of a kind, by its name."""
    return {
        widget.objectName(): QRect(widget.mapTo(root, QPoint()), widget.size())
        for widget in root.findChildren(kind)
        if widget.isVisible()
    }


def test_a_changed_setting_moves_no_other(ui: Ui) -> None:
    settings = ui.presenters.settings
    settings.shows_all_options = True
    ui.press("Ctrl+,")
    dialog = ui.find(SettingsDialog)
    ui.settle()  # wait for the check of this computer, before vLLM's settings are shown
    ui.presenters.system.vllm_checked.emit(True)
    for size in ((800, 560), (560, 500)):
        dialog.resize(*size)
        for section in SECTIONS:
            names = [
                name
                for name, field in fields().items()
                if section_of(field) == section and field.in_form and field.annotation is bool
            ]
            dialog.go_to(
                next(
                    name
                    for name, it in fields().items()
                    if it.in_form and section_of(it) == section
                )
            )
            ui.settle()
            before = places(dialog, SettingRow)
            for name in names:
                settings.set(name, not getattr(settings.current, name))
            ui.settle()
            for name in names:
                assert part(dialog, QAbstractButton, f"reset-{name}").isVisible()
            assert places(dialog, SettingRow) == before
            for name in names:
                part(dialog, QAbstractButton, f"reset-{name}").click()
            ui.settle()
            assert places(dialog, SettingRow) == before
    dialog.close()


def test_a_setting_of_a_chat_or_of_a_model_moves_no_other(ui: Ui) -> None:
    ui.press("Ctrl+T")
    panel = ui.find(QWidget, "chatSettings")
    ui.settle()
    before = places(panel, QComboBox) | places(panel, LayeredSetting)
    ui.window.chat.set("system_prompt", "Be brief.")
    ui.window.chat.set_collections(())
    ui.settle()
    assert ui.has("take-back-system_prompt")
    assert ui.has("take-back-collections")
    assert places(panel, QComboBox) | places(panel, LayeredSetting) == before
    ui.window.assistants.toggle_panel()
    ui.press("Ctrl+M")
    ui.click("details-starter")
    ui.click("toggleOwnSettings")
    ui.settle()
    form = ui.find(QWidget, "modelDetails")
    rows = places(form, SettingRow)
    assert rows
    spins: tuple[QSpinBox | QDoubleSpinBox, ...] = (
        *form.findChildren(QSpinBox),
        *form.findChildren(QDoubleSpinBox),
    )
    boxes = [box for box in spins if box.isVisible() and box.isEnabled()]
    assert len(boxes) > 5
    last = boxes[-1].objectName()
    for box in boxes:
        box.stepBy(1 if box.value() < box.maximum() else -1)
    ui.qtbot.waitUntil(lambda: ui.has(f"reset-{last}"))
    ui.settle()
    assert places(form, SettingRow) == rows
