"""Editing a model file's metadata from the model's page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSpinBox,
)

from app.base.shipped import STARTER
from app.models.library.pages.details.metadata_dialog import MetadataDialog
from engines.cancel import CancelToken
from engines.memory.load_options import LoadOptions
from engines.models.gguf.edit import Metadata
from engines.models.gguf.header import read_header
from tests.app.models.library.services.places.layouts import put_on_hub
from tests.support.control_names import all_named
from tests.support.window import Ui, part

TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"


@pytest.fixture
def mine(tmp_path: Path, ui: Ui) -> Path:
    """Add a model of the user's and open its page."""
    path = tmp_path / "mine.gguf"
    shutil.copy(STARTER, path)
    ui.app.library.add(path)
    ui.press("Ctrl+M")
    open_dialog(ui, "mine")
    return path


def open_dialog(ui: Ui, model: str) -> None:
    ui.qtbot.waitUntil(lambda: ui.has(f"details-{model}"))
    ui.click(f"details-{model}")
    ui.qtbot.waitUntil(lambda: ui.has("editMetadata"))
    ui.click("editMetadata")
    ui.qtbot.waitUntil(lambda: ui.window.findChild(MetadataDialog) is not None)


def dialog(ui: Ui) -> MetadataDialog:
    return part(ui.window, MetadataDialog, "metadataDialog")


def editor(ui: Ui) -> QPlainTextEdit:
    return part(dialog(ui), QPlainTextEdit, "metadataTemplate")


def press(ui: Ui, name: str) -> None:
    part(dialog(ui), QPushButton, name).click()
    QApplication.processEvents()


def closed(ui: Ui) -> None:
    ui.qtbot.waitUntil(lambda: not any(it.isVisible() for it in ui.window.findChildren(QDialog)))


def test_it_shows_what_the_file_says(ui: Ui, mine: Path) -> None:
    header = read_header(STARTER)
    assert part(dialog(ui), QLineEdit, "metadataName").text() == header.name
    assert part(dialog(ui), QSpinBox, "metadataContext").value() == header.context_max
    assert editor(ui).toPlainText() == header.chat_template
    assert not part(dialog(ui), QPushButton, "metadataSave").isEnabled(), "nothing is changed"
    all_named(ui, dialog(ui))
    press(ui, "metadataCancel")
    closed(ui)
    assert mine.read_bytes() == STARTER.read_bytes()


def test_a_template_is_tried_on_a_short_chat(ui: Ui, mine: Path) -> None:
    editor(ui).setPlainText(TEMPLATE)
    press(ui, "tryTemplate")
    sample = part(dialog(ui), QPlainTextEdit, "templateSample")
    ui.qtbot.waitUntil(sample.isVisible, timeout=20_000)
    assert "user: Hello" in sample.toPlainText()
    editor(ui).setPlainText("{% for %}")
    assert not sample.isVisible()
    press(ui, "tryTemplate")
    said = part(dialog(ui), QLabel, "templateSaid")
    ui.qtbot.waitUntil(lambda: "cannot be used" in said.text(), timeout=20_000)
    press(ui, "metadataCancel")
    closed(ui)
    assert mine.read_bytes() == STARTER.read_bytes()


def test_a_copy_is_saved_and_shown(ui: Ui, mine: Path) -> None:
    field = part(dialog(ui), QLineEdit, "metadataName")
    field.setText("Mended")
    editor(ui).setPlainText(TEMPLATE)
    assert "copy" in part(dialog(ui), QLabel, "metadataPlan").text()
    press(ui, "metadataSave")
    closed(ui)
    ui.qtbot.waitUntil(lambda: ui.find(QLabel, "detailsName").text() == "Mended")
    entry = ui.app.library.find("Mended")
    header = read_header(entry.path)
    assert (header.name, header.chat_template) == ("Mended", TEMPLATE)
    assert mine.read_bytes() == STARTER.read_bytes()


def test_the_file_itself_is_changed_after_a_question(ui: Ui, mine: Path) -> None:
    part(dialog(ui), QRadioButton, "metadataInPlace").click()
    part(dialog(ui), QSpinBox, "metadataContext").setValue(512)
    assert mine.name in part(dialog(ui), QLabel, "metadataPlan").text()
    press(ui, "metadataSave")
    ui.qtbot.waitUntil(lambda: ui.has("keepMetadata"))
    ui.click("keepMetadata")
    assert mine.read_bytes() == STARTER.read_bytes()
    press(ui, "metadataSave")
    ui.qtbot.waitUntil(lambda: ui.has("changeMetadata"))
    ui.click("changeMetadata")
    closed(ui)
    header = read_header(mine)
    assert (header.context_max, header.chat_template) == (512, read_header(STARTER).chat_template)


def test_what_cannot_be_written_is_said_and_stays_editable(ui: Ui, mine: Path) -> None:
    part(dialog(ui), QSpinBox, "metadataContext").setValue(0)
    press(ui, "metadataSave")
    problem = part(dialog(ui), QLabel, "metadataProblem")
    ui.qtbot.waitUntil(lambda: "context length was not changed" in problem.text())
    assert part(dialog(ui), QPushButton, "metadataSave").isEnabled()
    QTest.keyClick(dialog(ui), Qt.Key.Key_Escape)
    closed(ui)


def test_a_model_that_is_loaded_is_loaded_anew(ui: Ui, mine: Path) -> None:
    """A different loaded model stays loaded."""
    app, cancel = ui.app, CancelToken()
    for called, stays in (("mine", False), ("starter", True)):
        entry = app.library.find(called)
        app.runtime.lease(entry, LoadOptions(), lambda _: None, cancel).close()
        assert app.runtime.loaded_model("llamacpp") == entry
        app.metadata.change("mine", Metadata(name=called), lambda _: None, cancel)
        assert (app.runtime.loaded_model("llamacpp") == entry) is stays
    assert read_header(mine).name == "starter"


@pytest.fixture
def on_the_hub(tmp_path: Path) -> None:
    """Put a model in the Hub's cache; use it before `ui`."""
    put_on_hub(tmp_path / "hub-cache", "ada/Small-GGUF", "small-F16.gguf", STARTER)


@pytest.mark.usefixtures("on_the_hub")
def test_what_lies_in_the_hubs_cache_can_only_be_copied(ui: Ui) -> None:
    ui.press("Ctrl+M")
    open_dialog(ui, "small-f16")
    assert not part(dialog(ui), QRadioButton, "metadataInPlace").isEnabled()
    assert "Hub" in part(dialog(ui), QLabel, "whyNotInPlace").text()
    press(ui, "metadataCancel")
    closed(ui)


def test_the_guide_cannot_be_edited(ui: Ui) -> None:
    ui.press("Ctrl+M")
    ui.qtbot.waitUntil(lambda: ui.has("details-starter"))
    ui.click("details-starter")
    ui.qtbot.waitUntil(lambda: ui.has("ownSettings"))
    assert not ui.has("editMetadata")
