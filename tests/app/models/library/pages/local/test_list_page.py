"""The models on this computer: the list, the page of each, and what is done there."""

from __future__ import annotations

import os
from pathlib import Path

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
from app.models.library.pages.local.model_rows import ModelRow
from app.models.library.pages.model_picker import ModelPicker
from tests.app.models.library.services.places.layouts import put_in_ollama, put_on_hub
from tests.engines.gguf_files import write_llama
from tests.support.control_names import all_named
from tests.support.mtp_models import quantised
from tests.support.window import Ui, part
from tests.support.windows import models_page

REPO = "ada/Small-GGUF"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A model in the Hub's cache, one of Ollama's, and a file that can be added; before `ui`."""
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


def test_everything_is_in_one_list(here: Ui) -> None:
    assert rows(here) == ["model-mistral-7b", "model-small-f16", "model-starter"]
    row = here.find(ModelRow, "model-mistral-7b")
    wait = here.qtbot.waitUntil
    wait(lambda: part(row, QLabel, "modelQuantisation").text() == "F16")
    assert part(row, QLabel, "modelSource").text() == "Ollama"
    assert part(row, QLabel, "modelUsed").text() == "Never used"
    starter = here.find(ModelRow, "model-starter")
    wait(lambda: part(starter, QLabel, "modelMtp").isVisible())
    assert text(here, "diskUse").startswith("3 models take")
    all_named(here, here.window)


def test_the_list_is_filtered_and_sorted_by_keys(here: Ui) -> None:
    field = here.find(QLineEdit, "filterModels")
    QTest.keyClicks(field, "ollama")
    assert rows(here) == ["model-mistral-7b"]
    QTest.keyClicks(field, " nothing")
    assert rows(here) == []
    here.click("clearFilter")
    assert len(rows(here)) == 3
    here.press("End", here.find(QComboBox, "orderModels"))
    here.app.library.used(here.app.library.find("mistral-7b"))
    here.press("Ctrl+N")
    here.press("Ctrl+M")
    last = ["model-small-f16", "model-starter", "model-mistral-7b"]
    here.qtbot.waitUntil(lambda: rows(here) == last)
    assert part(here.find(ModelRow, last[-1]), QLabel, "modelUsed").text() == "Used today"


def test_a_click_on_a_row_opens_its_page_and_back_returns_to_it(here: Ui) -> None:
    QTest.mouseClick(here.find(ModelRow, "model-small-f16"), Qt.MouseButton.LeftButton)
    here.qtbot.waitUntil(lambda: here.has("factsCard"))
    facts = [label.text() for label in here.find(QWidget, "factsCard").findChildren(QLabel)]
    assert f"{REPO} (aaaaaaaa)" in facts
    assert "4,096 tokens at most" in facts
    assert here.has("mixBar")
    wait_for(here, "fitSentence", "It fits")
    all_named(here, here.window)
    here.click("backToModels")
    here.qtbot.waitUntil(lambda: here.has("details-small-f16"))


def test_a_model_is_checked_and_known_to_be_right(here: Ui) -> None:
    open_details(here, "small-f16")
    here.click("checkFile")
    wait_for(here, "fileCheckResult", "The file is intact.")
    assert here.app.library.find("small-f16").verified is not None


def test_a_changed_file_is_found_out(here: Ui) -> None:
    path = here.app.library.find("small-f16").path.resolve()
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    open_details(here, "small-f16")
    here.click("checkFile")
    wait_for(here, "fileCheckResult", "has changed since")


def test_a_model_is_renamed_with_enter_and_not_with_escape(here: Ui) -> None:
    open_details(here, "mistral-7b")
    here.click("renameModel")
    field = here.find(QLineEdit, "newName")
    QTest.keyClicks(field, "No")
    here.press("Esc", field)
    assert text(here, "detailsName") == "mistral:7b"
    here.click("renameModel")
    field.clear()
    QTest.keyClicks(field, "Wind")
    here.press("Return", field)
    wait_for(here, "detailsName", "Wind")
    assert here.app.library.find("mistral-7b").name == "Wind"


def test_a_name_that_is_taken_is_refused(here: Ui) -> None:
    open_details(here, "mistral-7b")
    here.click("renameModel")
    field = here.find(QLineEdit, "newName")
    field.clear()
    QTest.keyClicks(field, "Starter guide")
    here.press("Return", field)
    wait_for(here, "toastLine2", "already called")
    assert text(here, "detailsName") == "mistral:7b"
    here.click("toastClose")


def test_a_setting_of_its_own_holds_and_is_taken_back(here: Ui) -> None:
    open_details(here, "mistral-7b")
    assert text(here, "ownSummary") == "Everything follows the settings."
    here.click("toggleOwnSettings")
    assert text(here, "general-temperature") == "As in the settings"
    here.find(QDoubleSpinBox, "temperature").setValue(0.2)
    wait_for(here, "ownSummary", "Temperature")
    assert here.app.manager.settings("mistral-7b") == {"temperature": 0.2}
    here.click("reset-temperature")
    wait_for(here, "general-temperature", "As in the settings")
    assert here.app.manager.settings("mistral-7b") == {}
    usual = here.presenters.settings.current.temperature
    assert here.find(QDoubleSpinBox, "temperature").value() == usual


def test_a_draft_model_is_chosen_among_those_that_could_be_one(here: Ui, tmp_path: Path) -> None:
    here.app.library.add(quantised(STARTER, tmp_path / "tiny.gguf", "Q8_0"))
    open_details(here, "small-f16")
    here.click("toggleOwnSettings")
    box = here.find(QComboBox, "draft_model")
    assert [box.itemText(row) for row in range(box.count())] == ["Automatic", "tiny"]
    here.press("Space", box)
    picker = here.find(ModelPicker)
    QTest.keyClicks(picker.list.field, "tin")
    QTest.keyClick(picker.list.field, Qt.Key.Key_Return)
    wait_for(here, "ownSummary", "Draft model")
    assert here.app.manager.settings("small-f16") == {"draft_model": "tiny"}
    assert here.app.library.find("small-f16").drafter == tmp_path / "tiny.gguf"
    here.click("reset-draft_model")
    here.qtbot.waitUntil(lambda: here.app.manager.settings("small-f16") == {})


def test_what_belongs_to_another_program_says_why_it_stays(here: Ui) -> None:
    open_details(here, "mistral-7b")
    assert "Ollama" in text(here, "whyNotRemoved")
    assert not here.has("trashModel")
    assert not here.has("takeOffList")


def test_a_downloaded_model_goes_to_the_trash_after_a_question(
    here: Ui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from send2trash import plat_other

    monkeypatch.setattr(plat_other, "HOMETRASH_B", os.fsencode(tmp_path / "trash"))
    path = here.app.library.find("small-f16").path
    open_details(here, "small-f16")
    here.click("trashModel")
    assert "frees" in text(here, "line2")
    here.click("keepModel")
    assert path.exists()
    here.click("trashModel")
    here.click("confirmTrash")
    here.qtbot.waitUntil(lambda: not here.has("modelDetails"))
    assert not path.exists()
    here.qtbot.waitUntil(lambda: rows(here) == ["model-mistral-7b", "model-starter"])


def test_what_left_the_list_comes_back_with_its_name_and_settings(here: Ui, models: Path) -> None:
    here.app.library.add(models)
    here.app.manager.rename("plain", "My own")
    here.app.manager.set("plain", "temperature", 0.3)
    here.presenters.models.look()
    here.qtbot.waitUntil(lambda: here.has("details-plain"))
    open_details(here, "plain")
    here.click("takeOffList")
    here.qtbot.waitUntil(lambda: here.has("toastAction"))
    assert "plain" not in [it.id for it in here.app.library.entries()]
    here.press("Ctrl+Z")
    here.qtbot.waitUntil(lambda: "plain" in [it.id for it in here.app.library.entries()])
    here.settle()
    here.qtbot.waitUntil(lambda: here.has("model-plain"))
    assert here.app.library.find("plain").name == "My own"
    assert here.app.manager.settings("plain") == {"temperature": 0.3}


def test_a_model_is_shown_in_its_folder(here: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []

    def opens(url: QUrl) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", opens)
    open_details(here, "small-f16")
    here.click("revealModel")
    path = here.app.library.find("small-f16").path
    assert opened == [QUrl.fromLocalFile(str(path.parent))]


def test_use_in_chat_leads_to_the_chat(here: Ui) -> None:
    open_details(here, "mistral-7b")
    here.click("useModel")
    assert here.presenters.settings.current.model == "mistral-7b"
    assert here.window.focusWidget() is here.edit


def drop(ui: Ui, *paths: Path) -> None:
    """Let files go over the page, as the window system tells of it."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    page = models_page(ui.window).local_models
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(9, 9).toPoint(), copy, data, left, none)
    QApplication.sendEvent(page, enter)
    assert ui.has("dropHint") == any(path.suffix == ".gguf" for path in paths)
    QApplication.sendEvent(page, QDropEvent(QPointF(9, 9), copy, data, left, none))


def test_a_dropped_file_is_linked_or_copied_as_was_said_once(here: Ui, models: Path) -> None:
    drop(here, models)
    here.click("copy")
    here.qtbot.waitUntil(lambda: here.has("model-plain"))
    copied = here.app.library.find("plain").path
    assert copied != models
    assert copied.read_bytes() == models.read_bytes()
    assert not here.has("dropHint")
    other = write_llama(models.with_name("other.gguf"))
    here.presenters.settings.set("adding", "link")
    drop(here, other)
    here.qtbot.waitUntil(lambda: here.has("model-other"))
    assert not here.has("messageDialog")
    assert here.app.library.find("other").path == other


def test_other_files_are_not_taken(here: Ui, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk")
    drop(here, tmp_path / "notes.txt")
    assert not here.has("messageDialog")


@pytest.fixture
def huge(here: Ui, tmp_path: Path) -> Ui:
    """The window with a model that is far too large for its computer: all of it is a hole."""
    path = write_llama(
        tmp_path / "huge.gguf",
        GGMLQuantizationType.Q8_0,
        embedding_length=8192,
        feed_forward_length=28672,
        block_count=80,
    )
    here.presenters.settings.set("adding", "link")
    drop(here, path)
    here.qtbot.waitUntil(lambda: here.has("details-huge"))
    return here


def test_a_check_is_stopped(huge: Ui) -> None:
    open_details(huge, "huge")
    huge.click("checkFile")
    wait_for(huge, "fileCheckResult", "Checking the file: ")
    huge.click("stopCheckingFile")
    wait_for(huge, "fileCheckResult", "was stopped")
    assert huge.app.library.find("huge").verified is None


def test_a_model_that_does_not_fit_can_be_loaded_anyway(huge: Ui) -> None:
    huge.click("use-starter")
    huge.qtbot.waitUntil(lambda: huge.has("details-huge"))
    open_details(huge, "huge")
    huge.qtbot.waitUntil(lambda: huge.has("loadAnyway"))
    assert text(huge, "fitWord") == "Too big"
    huge.click("loadAnyway")
    assert huge.presenters.settings.current.model == "huge"
    huge.ask("Hi")
    assert [plan.anyway for plan in huge.engine.plans][-1:] == [True]


def test_a_file_that_cannot_be_read_keeps_its_row_and_says_why(here: Ui) -> None:
    path = here.app.library.find("small-f16").path.resolve()
    path.write_bytes(path.read_bytes()[:1000])
    here.click("details-small-f16")
    here.qtbot.waitUntil(lambda: here.has("problemCard"))
    assert not here.find(QPushButton, "useModel").isEnabled()
