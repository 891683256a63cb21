"""The settings in two steps: those that most people need, and all options."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QListWidget, QPushButton, QSpinBox

from app.models.presenters import SystemCheck
from app.settings.pages.setting_row import SettingRow
from app.settings.pages.settings_dialog import SettingsDialog
from app.settings.values.declared import SECTIONS, Section
from app.settings.values.fields import fields
from engines.hardware import Gpu
from engines.registry import EngineAvailability
from tests.support.window import COMPUTER, Ui, part

CARD = Gpu("Card", "nvidia", "CUDA", 24 * 10**9, 20 * 10**9, False, "", True, capability=(8, 6))
WITH_CARD = replace(COMPUTER, gpus=(CARD,))
ENGINES = (EngineAvailability("llamacpp", True), EngineAvailability("vllm", False))
OF_VLLM = {name for name, field in fields().items() if field.engine == "vllm"}


def shown(dialog: SettingsDialog, section: Section | None = None) -> set[str]:
    """Open a section if one is named, and return the names of the settings that are visible."""
    if section is not None:
        part(dialog, QListWidget, "sections").setCurrentRow(SECTIONS.index(section))
    rows = [row for row in dialog.findChildren(SettingRow) if row.isVisible()]
    return {row.objectName().removeprefix("setting-") for row in rows}


def everywhere(dialog: SettingsDialog) -> set[str]:
    return set().union(*(shown(dialog, section) for section in SECTIONS))


def open_settings(ui: Ui) -> SettingsDialog:
    ui.press("Ctrl+,")
    dialog = ui.find(SettingsDialog)
    ui.settle()
    return dialog


def test_few_come_first_and_the_keyboard_shows_the_others(ui: Ui) -> None:
    """Seventy settings in one list hid the twenty that most people need."""
    ui.presenters.settings.set("top_k", 20)
    dialog = open_settings(ui)
    common = {name for name, field in fields().items() if field.common}
    assert everywhere(dialog) == common | {"top_k"}, "a changed setting is always shown"
    assert shown(dialog, "Engines") == set()
    assert part(dialog, QLabel, "more-engines").text() == "5 more under “All options”."

    assert "top_k" in shown(dialog, "Answers")
    ui.click("reset-top_k")
    assert "top_k" in shown(dialog), "a setting that is reset stays under the mouse"

    chip = ui.find(QPushButton, "allOptions")
    chip.setFocus(Qt.FocusReason.TabFocusReason)
    ui.press("Space", chip)
    assert everywhere(dialog) == {n for n, f in fields().items() if f.in_form} - OF_VLLM
    assert not ui.has("more-appearance")
    dialog.close()

    again = open_settings(ui)
    assert "gpu_layers" in shown(again, "Model"), "the choice holds until Hearth ends"
    ui.click("allOptions")
    assert "gpu_layers" not in shown(again)
    again.close()


def test_the_search_and_a_command_find_what_is_not_shown(ui: Ui) -> None:
    dialog = open_settings(ui)
    search = part(dialog, QLineEdit, "searchSettings")
    for name, words in (
        ("gpu_layers", "layers on the graphics"),
        ("vllm_memory", "vram vllm"),
    ):
        QTest.keyClicks(search, words)
        assert shown(dialog) == {name}
        search.clear()
    note = part(dialog, QLabel, "note-vllm_memory")
    assert note.text() == "vLLM cannot run on this computer."
    dialog.go_to("vllm_memory")
    assert part(dialog, QSpinBox, "vllm_memory").isVisible()
    assert shown(dialog) == {"vllm_memory"}
    dialog.close()


def test_vllm_has_settings_where_it_can_run(ui: Ui) -> None:
    ui.presenters.settings.shows_all_options = True
    dialog = open_settings(ui)
    assert not OF_VLLM & shown(dialog, "Engines")
    ui.presenters.system.vllm_checked.emit(SystemCheck(WITH_CARD, ENGINES).can_run_vllm)
    assert shown(dialog) >= OF_VLLM
    dialog.close()


def test_vllm_can_run_on_a_card_that_is_not_too_old_or_if_it_is_installed() -> None:
    old = replace(CARD, capability=(6, 1))
    assert not SystemCheck(COMPUTER, ENGINES).can_run_vllm
    assert not SystemCheck(replace(COMPUTER, gpus=(old,)), ENGINES).can_run_vllm
    assert SystemCheck(replace(COMPUTER, gpus=(old, CARD)), ENGINES).can_run_vllm
    assert SystemCheck(COMPUTER, (EngineAvailability("vllm", available=True),)).can_run_vllm
