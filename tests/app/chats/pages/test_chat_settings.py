"""The panel with a chat's own settings, and the chat's model."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLabel, QLineEdit

from app.assistants.values.assistants import Assistant
from app.kit.widgets.label import Label
from tests.engines.gguf_files import write_llama
from tests.support.window import Ui

POET = Assistant("p", "Poet", "Rhyme.", settings={"temperature": 1.25})


def source(ui: Ui, name: str) -> str:
    return ui.find(QLabel, f"source-{name}").text()


def open_all(ui: Ui) -> None:
    ui.press("Ctrl+T")
    ui.click("moreSampling")


def set_temperature(ui: Ui, value: float) -> None:
    ui.find(QDoubleSpinBox, "edit-temperature").setValue(value)


def test_a_value_is_set_and_taken_back_for_one_chat(ui: Ui) -> None:
    ui.presenters.settings.set("system_prompt", "Of the app.")
    ui.ask("One")
    open_all(ui)
    assert source(ui, "system_prompt") == "", "only another source than usual is named"
    set_temperature(ui, 0.4)
    assert source(ui, "temperature") == "Set here"
    ui.ask("Two")
    assert ui.engine.requests[-1].sampling.temperature == 0.4
    ui.click("take-back-temperature")
    assert source(ui, "temperature") == "Set for the model"
    ui.ask("Three")
    assert ui.engine.requests[-1].sampling.temperature == 0.0


def test_an_adapter_is_chosen_by_its_name(ui: Ui) -> None:
    ui.ask("One")
    open_all(ui)
    editor = ui.find(QLineEdit, "edit-adapter")
    editor.setText("law")
    editor.editingFinished.emit()
    assert source(ui, "adapter") == "Set here"
    ui.ask("Two")
    ui.click("take-back-adapter")
    ui.ask("Three")
    assert [it.adapter for it in ui.engine.requests[-3:]] == [None, "law", None]


def test_it_follows_the_chat_that_is_open(ui: Ui) -> None:
    ui.ask("One")
    first = ui.page.chat_id
    open_all(ui)
    set_temperature(ui, 0.4)
    ui.press("Ctrl+N")
    assert source(ui, "temperature") != "Set here"
    set_temperature(ui, 0.9)
    ui.ask("Two")
    assert ui.engine.requests[-1].sampling.temperature == 0.9
    ui.window.open_chat(first)
    assert ui.find(QDoubleSpinBox, "edit-temperature").value() == 0.4


def test_an_assistant_is_chosen_for_a_chat_that_is_under_way(ui: Ui) -> None:
    ui.presenters.assistants.save(POET)
    ui.ask("One")
    open_all(ui)
    box = ui.find(QComboBox, "chatAssistant")
    box.setCurrentIndex(1)
    box.activated.emit(1)
    assert source(ui, "system_prompt") == source(ui, "temperature") == "Set by the assistant"
    ui.ask("Two")
    assert ui.engine.requests[-1].messages[0].text == "Rhyme."


def test_a_preset_is_chosen_made_and_deleted(ui: Ui) -> None:
    open_all(ui)
    box = ui.find(QComboBox, "presets")
    box.activated.emit(2)
    assert ui.find(QDoubleSpinBox, "edit-temperature").value() == 1.1
    set_temperature(ui, 0.77)
    assert ui.find(QComboBox, "presets").currentText() == "Custom"
    ui.click("keepPreset")
    assert ui.has("presetName")
    QTest.keyClicks(ui.find(QLineEdit, "otherName"), "Mine")
    ui.click("saveRename")
    assert ui.find(QComboBox, "presets").currentText() == "Mine"
    ui.click("dropPreset")
    assert ui.find(QComboBox, "presets").currentText() == "Custom"
    ui.window.notifier.undo()
    assert ui.find(QComboBox, "presets").currentText() == "Mine"


def test_a_model_that_is_chosen_in_a_chat_is_of_that_chat(ui: Ui, tmp_path: Path) -> None:
    other = ui.app.library.add(write_llama(tmp_path / "other.gguf")).id
    with ui.qtbot.waitSignal(ui.presenters.models.listed):
        ui.presenters.models.look()
    ui.ask("One")
    first = ui.page.chat_id
    ui.press("Ctrl+N")
    ui.window.chooser.use(other)
    assert ui.presenters.settings.current.model == "starter"
    assert ui.presenters.chat_settings.model(None) == other
    ui.window.open_chat(first)
    assert ui.window.chooser.current() == "starter"
    ui.window.chooser.use(other)
    assert ui.presenters.chat_settings.model(first) == other
    ui.press("Ctrl+T")
    assert ui.find(QComboBox, "chatModel").currentText() == "other"
    assert ui.find(Label, "source-model").text() == "Set here"


def test_a_model_that_is_gone_is_named(ui: Ui) -> None:
    ui.ask("One")
    ui.presenters.chat_settings.set_model(ui.page.chat_id, "vanished")
    ui.press("Ctrl+T")
    assert ui.find(QComboBox, "chatModel").currentText() == "vanished (not here)"
    ui.ask("Two")
    assert ui.last.message.state == "failed"
    assert ui.last.message.failure is not None
    assert ui.last.message.failure.code == "model_not_found"
