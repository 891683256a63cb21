"""Importing and exporting chats in the window."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QPushButton

from app.chats.history.values.places import TRASH
from app.exchange.pages.import_dialog import ImportDialog
from app.kit.widgets.label import Label
from app.kit.widgets.switch import Switch
from tests.support.foreign_chats import chatgpt_chat, write_jan
from tests.support.window import Ui, part


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "conversations.json"
    empty = {**chatgpt_chat("e", "Empty"), "mapping": {"x": {"message": None}}}
    path.write_text(json.dumps([chatgpt_chat("a", "One"), chatgpt_chat("b", "Two"), empty]))
    return path


def title(ui: Ui) -> str:
    return ui.find(Label, "importTitle").text()


def said(ui: Ui) -> str:
    return ui.find(Label, "importFileSaid").text()


def wait_for(ui: Ui, words: str) -> None:
    ui.qtbot.waitUntil(lambda: words in title(ui))


def test_chats_are_looked_at_imported_and_taken_back(ui: Ui, export: Path) -> None:
    ui.press("F7")
    ui.click("importFiles")
    chooser = part(ui.find(ImportDialog), QFileDialog, "importChoose")
    chooser.filesSelected.emit([str(export)])
    chooser.reject()
    wait_for(ui, "Chats to import: 2")
    assert "Can be imported: 2 chats with 8 messages from ChatGPT." in said(ui)
    assert "“Empty”: It has no messages." in said(ui)
    assert ui.app.chats.chats() == []
    ui.click("importGo")
    wait_for(ui, "Chats imported: 2")
    assert said(ui).startswith("Imported: 2 chats")
    assert len(ui.app.chats.chats()) == 2
    assert ui.titles == [], "their folder is folded, and pushes no other chat away"
    ui.click("importCopy")
    assert QGuiApplication.clipboard().text().startswith("conversations.json\nImported: 2")
    ui.click("importGo")
    ui.qtbot.waitUntil(lambda: ui.texts[:1] == ["How is bread made?"])
    assert [folder.name for folder in ui.presenters.chats.folders()] == ["Imported from ChatGPT"]
    assert not ui.has("importDialog")

    ui.window.importer.read([export])
    wait_for(ui, "nothing new")
    assert "Already here: 2 chats." in said(ui)
    assert not ui.find(QPushButton, "importGo").isEnabled()


def test_an_import_is_undone_as_one(ui: Ui, export: Path) -> None:
    ui.window.importer.read([export])
    wait_for(ui, "Chats to import: 2")
    ui.click("importGo")
    wait_for(ui, "Chats imported: 2")
    ui.click("importUndo")
    ui.qtbot.waitUntil(lambda: ui.presenters.chats.count(TRASH) == 2)
    ui.qtbot.waitUntil(lambda: ui.presenters.chats.folders() == [])
    assert ui.app.chats.chats() == []
    ui.window.importer.read([export])
    wait_for(ui, "Chats to import: 2")
    assert "Restored from the trash: 2 chats." in said(ui)
    ui.click("importGo")
    wait_for(ui, "Chats imported: 2")
    assert len(ui.app.chats.chats()) == 2


def test_what_is_dropped_is_imported_if_it_is_an_export(
    ui: Ui, export: Path, tmp_path: Path
) -> None:
    thread = write_jan(tmp_path / "jan", new=True)
    ui.window.desktop.drops.take_files([export, thread])
    wait_for(ui, "Chats to import: 3")
    ui.click("importClose")
    ui.qtbot.waitUntil(lambda: not ui.has("importDialog"))
    note = tmp_path / "note.json"
    note.write_text('{"a": 1}')
    ui.window.desktop.drops.take_files([note])
    ui.qtbot.waitUntil(lambda: "note.json" in [it.name for it in ui.page.files.attachments])
    assert not ui.has("importDialog")


def test_a_folder_without_chats_says_where_files_go(ui: Ui, tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "may.txt").write_text("Sales rose.")
    ui.window.desktop.drops.take_files([tmp_path / "reports"], "chats")
    wait_for(ui, "nothing new")
    words = [it.text() for it in ui.find(ImportDialog).findChildren(QLabel) if it.isVisible()]
    assert any("make a collection of their folder" in it for it in words)


def test_a_folder_is_exported_whole(ui: Ui, export: Path, tmp_path: Path) -> None:
    ui.window.importer.read([export])
    wait_for(ui, "Chats to import: 2")
    ui.click("importGo")
    wait_for(ui, "Chats imported: 2")
    ui.click("importGo")
    (folder,) = ui.presenters.chats.folders()
    ui.window.chat_actions.export_folder(folder.id)
    kinds = ui.find(QComboBox, "exportKind")
    kinds.setCurrentIndex(kinds.findData("html"))
    ui.find(Switch, "exportOneFile").click()
    ui.click("exportGo")
    dialog = part(ui.window, QFileDialog, "exportChat")
    assert dialog.selectedFiles()[0].endswith("Chats.html")
    dialog.fileSelected.emit(str(tmp_path / "all.html"))
    dialog.reject()
    ui.qtbot.waitUntil((tmp_path / "all.html").exists)
    page = (tmp_path / "all.html").read_text("utf-8")
    assert page.count("<section>") == 2
