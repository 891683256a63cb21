"""The models on this computer: the list, the page of each model, and its actions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest
from gguf import GGMLQuantizationType
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.base.shipped import STARTER
from app.kit.look.theme import theme_of
from app.models.library.pages.local.model_rows import ModelRow
from app.models.library.pages.model_box import ModelBox
from app.models.library.pages.model_picker import ModelPicker
from app.models.library.services.verdicts import Verdicts
from app.settings.pages.settings_dialog import SettingsDialog
from app.window.desktop.pages.quick_ask import QuickAsk
from engines.errors import EngineUnavailable
from tests.app.models.library.services.places.layouts import put_in_ollama, put_on_hub
from tests.engines.gguf_files import write_llama
from tests.support.control_names import all_named
from tests.support.mtp_models import quantised
from tests.support.window import Ui, part
from tests.support.windows import models_page

REPO = "ada/Small-GGUF"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Put a model in the Hub's cache, one in Ollama's, and a file to add; use it before `ui`."""
    file = write_llama(tmp_path / "plain.gguf")
    put_on_hub(tmp_path / "hub-cache", REPO, "small-F16.gguf", STARTER)
    put_in_ollama(tmp_path / "ollama", "registry.ollama.ai/library/mistral/7b", file)
    return file


@pytest.fixture
def local_models(models: Path, ui: Ui) -> Ui:
    ui.press("Ctrl+M")
    ui.qtbot.waitUntil(lambda: ui.has("model-small-f16"))
    return ui


def open_details(ui: Ui, model: str) -> None:
    ui.click(f"details-{model}")
    ui.qtbot.waitUntil(lambda: ui.has("ownSettings"))


def rows(ui: Ui) -> list[str]:
    QApplication.processEvents()
    shown = [row for row in ui.window.findChildren(ModelRow) if row.isVisible()]
    return [row.objectName() for row in sorted(shown, key=lambda row: row.y())]


def text(ui: Ui, name: str) -> str:
    return ui.find(QLabel, name).text()


def wait_for(ui: Ui, name: str, words: str) -> None:
    ui.qtbot.waitUntil(lambda: ui.has(name) and words in text(ui, name))


def test_everything_is_in_one_list(local_models: Ui) -> None:
    assert rows(local_models) == ["model-mistral-7b", "model-small-f16", "model-starter"]
    row = local_models.find(ModelRow, "model-mistral-7b")
    wait = local_models.qtbot.waitUntil
    wait(lambda: part(row, QLabel, "modelQuantisation").text() == "F16")
    assert part(row, QLabel, "modelSource").text() == "Ollama"
    assert part(row, QLabel, "modelUsed").text() == "Never used"
    starter = local_models.find(ModelRow, "model-starter")
    wait(lambda: part(starter, QLabel, "modelMtp").isVisible())
    assert text(local_models, "diskUse").startswith("3 models take")
    bar = local_models.find(QWidget, "diskBar")
    drawn, middle = bar.grab().toImage(), bar.height() // 2
    colours = {drawn.pixelColor(x, middle).name() for x in (bar.width() // 2, bar.width() - 8)}
    assert colours == {theme_of(bar.palette()).hover}, "a few megabytes do not fill the disk"
    all_named(local_models, local_models.window)


def test_the_list_is_filtered_and_sorted_by_keys(local_models: Ui) -> None:
    field = local_models.find(QLineEdit, "filterModels")
    QTest.keyClicks(field, "ollama")
    assert rows(local_models) == ["model-mistral-7b"]
    QTest.keyClicks(field, " nothing")
    assert rows(local_models) == []
    local_models.click("clearFilter")
    assert len(rows(local_models)) == 3
    local_models.press("End", local_models.find(QComboBox, "orderModels"))
    local_models.app.library.used(local_models.app.library.find("mistral-7b"))
    local_models.press("Ctrl+N")
    local_models.press("Ctrl+M")
    last = ["model-small-f16", "model-starter", "model-mistral-7b"]
    local_models.qtbot.waitUntil(lambda: rows(local_models) == last)
    assert part(local_models.find(ModelRow, last[-1]), QLabel, "modelUsed").text() == "Used today"


def test_a_click_on_a_row_opens_its_page_and_back_returns_to_it(local_models: Ui) -> None:
    QTest.mouseClick(local_models.find(ModelRow, "model-small-f16"), Qt.MouseButton.LeftButton)
    local_models.qtbot.waitUntil(lambda: local_models.has("factsCard"))
    facts = [label.text() for label in local_models.find(QWidget, "factsCard").findChildren(QLabel)]
    assert f"{REPO} (aaaaaaaa)" in facts
    assert "4,096 tokens at most" in facts
    assert local_models.has("mixBar")
    wait_for(local_models, "fitSentence", "It fits")
    all_named(local_models, local_models.window)
    local_models.click("backToModels")
    local_models.qtbot.waitUntil(lambda: local_models.has("details-small-f16"))


def test_a_model_is_checked_and_known_to_be_right(local_models: Ui) -> None:
    open_details(local_models, "small-f16")
    local_models.click("checkFile")
    wait_for(local_models, "fileCheckResult", "The file is intact.")
    assert local_models.app.library.find("small-f16").verified is not None


def test_a_changed_file_is_found_out(local_models: Ui) -> None:
    path = local_models.app.library.find("small-f16").path.resolve()
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    open_details(local_models, "small-f16")
    local_models.click("checkFile")
    wait_for(local_models, "fileCheckResult", "has changed since")


def test_a_model_is_renamed_with_enter_and_not_with_escape(local_models: Ui) -> None:
    open_details(local_models, "mistral-7b")
    local_models.click("renameModel")
    field = local_models.find(QLineEdit, "newName")
    QTest.keyClicks(field, "No")
    local_models.press("Esc", field)
    assert text(local_models, "detailsName") == "mistral:7b"
    local_models.click("renameModel")
    field.clear()
    QTest.keyClicks(field, "Wind")
    local_models.press("Return", field)
    wait_for(local_models, "detailsName", "Wind")
    assert local_models.app.library.find("mistral-7b").name == "Wind"


def test_a_name_that_is_taken_is_refused(local_models: Ui) -> None:
    open_details(local_models, "mistral-7b")
    local_models.click("renameModel")
    field = local_models.find(QLineEdit, "newName")
    field.clear()
    QTest.keyClicks(field, "Starter guide")
    local_models.press("Return", field)
    wait_for(local_models, "toastLine2", "already called")
    assert text(local_models, "detailsName") == "mistral:7b"
    local_models.click("toastClose")


def test_a_setting_of_its_own_holds_and_is_taken_back(local_models: Ui) -> None:
    open_details(local_models, "mistral-7b")
    assert text(local_models, "ownSummary") == "Everything follows the settings."
    local_models.click("toggleOwnSettings")
    assert text(local_models, "general-temperature") == "As in the settings"
    local_models.find(QDoubleSpinBox, "temperature").setValue(0.2)
    wait_for(local_models, "ownSummary", "Temperature")
    assert local_models.app.manager.settings("mistral-7b") == {"temperature": 0.2}
    local_models.click("reset-temperature")
    wait_for(local_models, "general-temperature", "As in the settings")
    assert local_models.app.manager.settings("mistral-7b") == {}
    usual = local_models.presenters.settings.current.temperature
    assert local_models.find(QDoubleSpinBox, "temperature").value() == usual


def test_a_draft_model_is_chosen_among_those_that_could_be_one(
    local_models: Ui, tmp_path: Path
) -> None:
    local_models.app.library.add(quantised(STARTER, tmp_path / "tiny.gguf", "Q8_0"))
    open_details(local_models, "small-f16")
    local_models.click("toggleOwnSettings")
    box = local_models.find(QComboBox, "draft_model")
    assert [box.itemText(row) for row in range(box.count())] == ["Automatic", "tiny"]
    local_models.press("Space", box)
    picker = local_models.find(ModelPicker)
    QTest.keyClicks(picker.list.field, "tin")
    QTest.keyClick(picker.list.field, Qt.Key.Key_Return)
    wait_for(local_models, "ownSummary", "Draft model")
    assert local_models.app.manager.settings("small-f16") == {"draft_model": "tiny"}
    assert local_models.app.library.find("small-f16").drafter == tmp_path / "tiny.gguf"
    local_models.click("reset-draft_model")
    local_models.qtbot.waitUntil(lambda: local_models.app.manager.settings("small-f16") == {})


def test_what_belongs_to_another_program_says_why_it_stays(local_models: Ui) -> None:
    open_details(local_models, "mistral-7b")
    assert "Ollama" in text(local_models, "whyNotRemoved")
    assert not local_models.has("trashModel")
    assert not local_models.has("takeOffList")


def test_a_downloaded_model_goes_to_the_trash_after_a_question(
    local_models: Ui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from send2trash import plat_other

    monkeypatch.setattr(plat_other, "HOMETRASH_B", os.fsencode(tmp_path / "trash"))
    path = local_models.app.library.find("small-f16").path
    open_details(local_models, "small-f16")
    local_models.click("trashModel")
    assert "frees" in text(local_models, "line2")
    local_models.click("keepModel")
    assert path.exists()
    local_models.click("trashModel")
    local_models.click("confirmTrash")
    local_models.qtbot.waitUntil(lambda: not local_models.has("modelDetails"))
    assert not path.exists()
    local_models.qtbot.waitUntil(
        lambda: rows(local_models) == ["model-mistral-7b", "model-starter"]
    )


def test_what_left_the_list_comes_back_with_its_name_and_settings(
    local_models: Ui, models: Path
) -> None:
    local_models.app.library.add(models)
    local_models.app.manager.rename("plain", "My own")
    local_models.app.manager.set("plain", "temperature", 0.3)
    local_models.presenters.models.look()
    local_models.qtbot.waitUntil(lambda: local_models.has("details-plain"))
    open_details(local_models, "plain")
    local_models.click("takeOffList")
    local_models.qtbot.waitUntil(lambda: local_models.has("toastAction"))
    assert "plain" not in [it.id for it in local_models.app.library.entries()]
    local_models.press("Ctrl+Z")
    local_models.qtbot.waitUntil(
        lambda: "plain" in [it.id for it in local_models.app.library.entries()]
    )
    local_models.settle()
    local_models.qtbot.waitUntil(lambda: local_models.has("model-plain"))
    assert local_models.app.library.find("plain").name == "My own"
    assert local_models.app.manager.settings("plain") == {"temperature": 0.3}


def test_a_model_is_shown_in_its_folder(local_models: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []

    def opens(url: QUrl) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", opens)
    open_details(local_models, "small-f16")
    local_models.click("revealModel")
    path = local_models.app.library.find("small-f16").path
    assert opened == [QUrl.fromLocalFile(str(path.parent))]


def test_use_in_chat_leads_to_the_chat(local_models: Ui) -> None:
    open_details(local_models, "mistral-7b")
    local_models.click("useModel")
    assert local_models.presenters.settings.current.model == "mistral-7b"
    assert local_models.window.focusWidget() is local_models.edit


def drop(ui: Ui, *paths: Path) -> None:
    """Drag files over the page and drop them, through the events of the window system."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    page = models_page(ui.window).local_models
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(9, 9).toPoint(), copy, data, left, none)
    QApplication.sendEvent(page, enter)
    assert ui.has("dropHint")
    QApplication.sendEvent(page, QDropEvent(QPointF(9, 9), copy, data, left, none))


def test_a_dropped_file_is_linked_or_copied_as_was_said_once(
    local_models: Ui, models: Path
) -> None:
    drop(local_models, models)
    local_models.click("copy")
    local_models.qtbot.waitUntil(lambda: local_models.has("model-plain"))
    copied = local_models.app.library.find("plain").path
    assert copied != models
    assert copied.read_bytes() == models.read_bytes()
    assert not local_models.has("dropHint")
    other = write_llama(models.with_name("other.gguf"))
    local_models.presenters.settings.set("adding", "link")
    drop(local_models, other)
    local_models.qtbot.waitUntil(lambda: local_models.has("model-other"))
    assert not local_models.has("messageDialog")
    assert local_models.app.library.find("other").path == other


def test_other_files_are_not_taken(local_models: Ui, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk")
    drop(local_models, tmp_path / "notes.txt")
    local_models.qtbot.waitUntil(lambda: local_models.has("toast"))
    assert not local_models.has("messageDialog")


@pytest.fixture
def huge(local_models: Ui, tmp_path: Path) -> Ui:
    """Add a sparse file of a model that is far too large for the computer; return the window."""
    path = write_llama(
        tmp_path / "huge.gguf",
        GGMLQuantizationType.Q8_0,
        embedding_length=8192,
        feed_forward_length=28672,
        block_count=80,
    )
    local_models.presenters.settings.set("adding", "link")
    drop(local_models, path)
    local_models.click("notUsual")
    local_models.qtbot.waitUntil(lambda: local_models.has("details-huge"))
    return local_models


def test_a_check_is_stopped(huge: Ui) -> None:
    open_details(huge, "huge")
    huge.click("checkFile")
    wait_for(huge, "fileCheckResult", "Checking the file: ")
    huge.click("stopCheckingFile")
    wait_for(huge, "fileCheckResult", "was stopped")
    assert huge.app.library.find("huge").verified is None


def test_a_failed_check_of_the_hardware_is_shown(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> NoReturn:
        raise OSError("no such device")

    monkeypatch.setattr(ui.app, "availability", fail)
    ui.press("Ctrl+M")
    wait_for(ui, "checking", "The check of the hardware failed.")


def test_a_model_that_does_not_fit_can_be_loaded_anyway(huge: Ui) -> None:
    """It is loaded for the open chat; after the next start it would not load for new ones."""
    open_details(huge, "huge")
    huge.qtbot.waitUntil(lambda: huge.has("loadAnyway"))
    assert text(huge, "fitWord") == "Too big"
    assert huge.find(QPushButton, "useModel").property("look") != "primary"
    assert huge.find(QPushButton, "findSmaller").property("look") == "primary"
    huge.click("loadAnyway")
    assert huge.presenters.settings.current.model == "starter"
    huge.ask("Hi")
    assert [plan.anyway for plan in huge.engine.plans][-1:] == [True]


def shown_fits(ui: Ui, model: str) -> str:
    """The verdict in the row of a model, "" if there is none."""
    words = ui.find(ModelRow, f"model-{model}").findChildren(QLabel, "fitWord")
    return " ".join(label.text() for label in words)


def test_a_model_that_is_too_big_becomes_no_default_without_a_question(huge: Ui) -> None:
    settings, wait = huge.presenters.settings, huge.qtbot.waitUntil
    assert settings.current.model == "starter"
    wait(lambda: shown_fits(huge, "huge") == "Too big")
    assert shown_fits(huge, "starter") == "Fits"
    huge.click("use-huge")
    assert "is too big" in huge.find(QLabel, "line1").text()
    huge.click("onlyHere")
    assert settings.current.model == "starter"
    assert huge.window.chooser.current() == "huge"
    huge.click("modelMenu")
    picker = huge.find(ModelPicker)
    spoken = {row.id: row.spoken for row in picker.list.choices.rows if not isinstance(row, str)}
    assert "Too big" in spoken["huge"]
    assert "Fits" in spoken["starter"]
    assert picker.list.marked is not None
    assert picker.list.marked.id == "huge"
    assert not huge.has("loadModel")
    huge.click("useForNew")
    huge.click("notUsual")
    assert settings.current.model == "starter"
    huge.window.show_settings("model")
    box = huge.find(ModelBox, "model")
    assert box.itemText(box.findData("huge")) == "huge (Too big)"
    box.chosen.emit("huge")
    huge.click("notUsual")
    assert (box.chosen_model, settings.current.model) == ("starter", "starter")
    box.chosen.emit("huge")
    huge.click("usualAnyway")
    assert (box.chosen_model, settings.current.model) == ("huge", "huge")
    huge.click("reset-model")
    assert (box.chosen_model, settings.current.model) == ("starter", "starter")
    box.chosen.emit("huge")
    dialog = huge.find(SettingsDialog)
    with huge.qtbot.waitSignal(dialog.destroyed):
        dialog.close()
    huge.click("usualAnyway")
    assert settings.current.model == "huge", "the question outlives the settings"


def test_a_failed_look_at_the_memory_does_not_lose_a_choice(
    models: Path, ui: Ui, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> NoReturn:
        raise EngineUnavailable("The memory cannot be measured.", "The driver ended.", "Restart.")

    monkeypatch.setattr(Verdicts, "of", fail)
    ui.press("Ctrl+M")
    ui.click("use-small-f16")
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == "small-f16")


def tab_to(ui: Ui, name: str) -> None:
    """Press Tab until the control with this name has the focus."""
    for _ in range(60):
        focus = QApplication.focusWidget()
        if focus is not None and focus.objectName() == name:
            return
        ui.press("Tab")
    pytest.fail(f"Tab does not reach {name}")


def test_a_model_that_is_too_big_is_judged_and_answered_by_keys(huge: Ui) -> None:
    huge.qtbot.waitUntil(lambda: shown_fits(huge, "huge") == "Too big")
    huge.window.go_to_chat()
    tab_to(huge, "modelMenu")
    huge.press("Return")
    field = huge.find(ModelPicker).list.field
    QTest.keyClicks(field, "huge")
    assert "Too big" in field.accessibleDescription()
    huge.press("Return", field)
    assert huge.window.chooser.current() == "huge"
    huge.press("Ctrl+L")
    huge.ask("Hi", wait=False)
    huge.qtbot.waitUntil(lambda: huge.has("chooseAnother"))
    huge.press("F6")
    tab_to(huge, "chooseAnother")
    huge.press("Return")
    picker = huge.find(ModelPicker)
    huge.press("Escape", picker.list.field)
    assert not huge.has("modelPicker")
    tab_to(huge, "fixFailure")
    huge.press("Return")
    huge.wait_for_text("Hello there")
    assert huge.presenters.settings.current.model == "starter"


def test_quick_ask_tells_that_its_model_is_too_big(huge: Ui) -> None:
    huge.presenters.settings.set("model", "huge")
    huge.press("Ctrl+Shift+K")
    huge.qtbot.waitUntil(lambda: huge.has("quickVerdict"))
    assert huge.find(QLabel, "quickVerdict").text() == "huge is too big for this computer"
    huge.presenters.settings.set("model", "starter")
    huge.qtbot.waitUntil(lambda: not huge.has("quickVerdict"))
    huge.find(QuickAsk).close()


def test_a_refused_answer_offers_another_model_and_to_load_it_anyway(huge: Ui) -> None:
    huge.window.chooser.use("huge")
    huge.window.go_to_chat()
    huge.ask("Hi", wait=False)
    shown = ("chooseAnother", "fixFailure", "tryAgain")
    assert [huge.find(QPushButton, name).text() for name in shown] == [
        "Choose another",
        "Load anyway",
        "Try again",
    ]
    huge.click("chooseAnother")
    picker = huge.find(ModelPicker)
    assert "huge" not in [row.id for row in picker.list.choices.rows if not isinstance(row, str)]
    picker.chosen.emit("small-f16")
    huge.wait_for_text("Hello there")
    assert huge.window.chooser.current() == "small-f16"
    huge.wait_for_answer()
    huge.window.chooser.use("huge")
    huge.ask("And now?", wait=False)
    huge.click("fixFailure")
    huge.wait_for_text("Hello there")
    assert huge.engine.plans[-1].anyway
    assert huge.presenters.settings.current.model == "starter"


def test_a_file_that_cannot_be_read_keeps_its_row_and_says_why(local_models: Ui) -> None:
    path = local_models.app.library.find("small-f16").path.resolve()
    path.write_bytes(path.read_bytes()[:1000])
    local_models.click("details-small-f16")
    local_models.qtbot.waitUntil(lambda: local_models.has("problemCard"))
    assert not local_models.find(QPushButton, "useModel").isEnabled()
