"""Zoom keys, the menu bar, drops, and the tray and notifications without a desktop."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget

from app.kit.widgets.toast import Toast
from app.settings.pages.settings_dialog import SettingsDialog
from app.window.pages.actions import commands
from app.window.presenters import dropped
from app.window.values.dropped import Kind
from tests.engines.gguf_files import write_llama
from tests.support.made_documents import archive
from tests.support.window import Ui


def drop(ui: Ui, mime: QMimeData, on: QWidget | None = None) -> None:
    """Drag data over a widget and drop it there."""
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    target = on or ui.window
    entered = QDragEnterEvent(QPoint(5, 5), copy, mime, left, none)
    QApplication.sendEvent(target, entered)
    assert entered.isAccepted()
    QApplication.sendEvent(target, QDropEvent(QPointF(5, 5), copy, mime, left, none))


def files(*paths: Path) -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return mime


def toast(ui: Ui) -> str:
    return ui.find(QWidget, "toast").accessibleName()


def zoomed(ui: Ui, percent: int) -> None:
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.zoom == percent)


def test_keys_zoom_in_steps_within_limits(ui: Ui) -> None:
    ui.press("Ctrl++")
    zoomed(ui, 110)
    ui.press("Ctrl+0")
    zoomed(ui, 100)
    ui.press("Ctrl+-")
    zoomed(ui, 90)
    ui.presenters.settings.set("zoom", 65)
    ui.press("Ctrl+-")
    ui.press("Ctrl+-")
    zoomed(ui, 60)
    ui.presenters.settings.set("zoom", 195)
    ui.press("Ctrl+=")
    ui.press("Ctrl+=")
    zoomed(ui, 200)


def test_keys_that_wait_are_taken_together(ui: Ui) -> None:
    """A step takes up to two seconds in a long chat, and a held key sends thirty in one."""
    drawn: list[int] = []
    ui.presenters.settings.changed.connect(lambda settings: drawn.append(settings.zoom))
    for _ in range(7):
        ui.window.desktop.zoom_by(1)
    ui.window.desktop.zoom_by(-1)
    zoomed(ui, 160)
    assert drawn == [160]


def test_the_zoom_is_told_in_one_place(ui: Ui) -> None:
    for _ in range(3):
        ui.press("Ctrl++")
    zoomed(ui, 130)
    shown = [toast for toast in ui.window.findChildren(Toast) if toast.isVisible()]
    assert [toast.accessibleName() for toast in shown] == ["130 %"]


def test_the_menu_bar_is_off_until_it_is_wanted(ui: Ui) -> None:
    bar = ui.window.menuBar()
    assert not bar.isVisible()
    ui.presenters.settings.set("menu_bar", True)
    assert bar.isVisible()
    menus = [menu for menu in bar.findChildren(QMenu) if menu.objectName().startswith("menu-")]
    listed = [action.objectName() for menu in menus for action in menu.actions()]
    assert sorted(listed) == sorted(command.name for command in commands())
    ui.presenters.settings.set("menu_bar", False)
    ui.press("Ctrl+M")
    assert ui.has("modelsPage")


def test_a_selection_becomes_a_quotation(ui: Ui) -> None:
    mime = QMimeData()
    mime.setText("one\ntwo\n")
    ui.press("Ctrl+M")
    drop(ui, mime)
    assert ui.edit.toPlainText() == "> one\n> two\n\n"


def test_a_model_is_added(ui: Ui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(b"GGUF")
    drop(ui, files(path))
    assert "How should a.gguf be added?" in ui.find(QLabel, "line1").text()
    ui.click("addNothing")


def drag(ui: Ui, kind: QEvent.Type, mime: QMimeData, at: QPoint | None = None) -> None:
    """Drag something into the window, to its middle or another place, or out of it again."""
    if kind is QEvent.Type.DragLeave:
        QApplication.sendEvent(ui.window, QDragLeaveEvent())
        return
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    at = at or ui.window.rect().center()
    QApplication.sendEvent(ui.window, QDragEnterEvent(at, copy, mime, left, none))


def test_a_page_and_the_list_of_chats_show_where_files_may_be_dropped(
    ui: Ui, tmp_path: Path
) -> None:
    """Even text shows nothing: it is dropped where the cursor is."""
    words = QMimeData()
    words.setText("milk")
    drag(ui, QEvent.Type.DragEnter, words)
    assert not ui.has("chatDropHint")
    drag(ui, QEvent.Type.DragEnter, files(tmp_path / "a.txt"))
    assert ui.has("chatDropHint")
    drag(ui, QEvent.Type.DragLeave, files())
    ui.qtbot.waitUntil(lambda: not ui.has("chatDropHint"))
    list_of_chats = ui.chats.mapTo(ui.window, ui.chats.rect().center())
    drag(ui, QEvent.Type.DragEnter, files(tmp_path / "a.txt"), list_of_chats)
    assert ui.has("chatsDropHint")
    assert not ui.has("chatDropHint")
    drag(ui, QEvent.Type.DragEnter, files(tmp_path / "a.txt"))
    assert not ui.has("chatsDropHint")
    drag(ui, QEvent.Type.DragLeave, files())
    ui.press("Ctrl+M")
    drag(ui, QEvent.Type.DragEnter, files(tmp_path / "a.txt"))
    assert ui.has("dropHint")
    drag(ui, QEvent.Type.DragLeave, files())
    ui.qtbot.waitUntil(lambda: not ui.has("dropHint"))


def wait_for_toast(ui: Ui, words: str) -> None:
    ui.qtbot.waitUntil(
        lambda: any(
            words in shown.accessibleName()
            for shown in ui.window.findChildren(Toast)
            if shown.isVisible()
        )
    )


def test_on_the_models_files_are_models(ui: Ui, tmp_path: Path) -> None:
    """A folder of them is listed, and no other file is guessed to be chats or a document."""
    folder = tmp_path / "my models"
    folder.mkdir()
    write_llama(folder / "first.gguf")
    weights = tmp_path / "w.safetensors"
    weights.write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    text = tmp_path / "text.gguf"
    text.write_text("no model")
    (tmp_path / "notes.txt").write_text("milk")
    ui.press("Ctrl+M")
    drop(ui, files(folder))
    wait_for_toast(ui, "The models in my models are listed now.")
    assert ui.presenters.settings.current.model_folders == str(folder)
    ui.qtbot.waitUntil(lambda: ui.has("model-first"))
    ui.press("Ctrl+Z")
    assert ui.presenters.settings.current.model_folders == ""
    drop(ui, files(weights))
    wait_for_toast(ui, "It is a safetensors file: one part of a model")
    drop(ui, files(text))
    wait_for_toast(ui, "“text.gguf” is not a model. It is a text file. Its name says GGUF")
    drop(ui, files(tmp_path / "notes.txt"))
    wait_for_toast(ui, "“notes.txt” was not added. This page takes models")
    assert not ui.has("messageDialog")
    assert not ui.has("importDialog")


def test_four_bad_files_give_one_message(ui: Ui, tmp_path: Path) -> None:
    ui.press("Ctrl+M")
    ui.presenters.settings.set("adding", "link")
    named, torn = [tmp_path / f"named{it}.gguf" for it in "ab"], tmp_path / "torn.gguf"
    for path in named:
        path.write_text("no model")
    torn.write_bytes(b"GGUF\3\0\0\0")
    (tmp_path / "notes.txt").write_text("milk")
    drop(ui, files(*named, torn, tmp_path / "notes.txt"))
    wait_for_toast(ui, "4 files were not added.")
    ui.settle()
    assert len([it for it in ui.window.findChildren(Toast) if it.isVisible()]) == 1


def test_on_the_list_of_chats_files_are_chats(ui: Ui, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk")
    drop(ui, files(tmp_path / "notes.txt"), ui.chats.viewport())
    ui.qtbot.waitUntil(lambda: ui.has("importDialog"))


def test_on_a_chat_a_file_is_an_attachment_and_a_folder_a_collection(
    ui: Ui, tmp_path: Path
) -> None:
    (tmp_path / "reports").mkdir()
    archive(tmp_path / "photos.zip", {"a.txt": "a"})
    drop(ui, files(tmp_path / "photos.zip"))
    ui.qtbot.waitUntil(lambda: ui.page.composer.attached.refused == 1)
    assert not ui.has("importDialog")
    drop(ui, files(tmp_path / "reports"))
    ui.qtbot.waitUntil(lambda: ui.has("collectionDialog"))
    assert ui.has("documentsPage")


def test_dropped_files_belong_to_the_chat_on_which_they_were_dropped(
    ui: Ui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking at files takes a while on a slow disk; the user may go on meanwhile."""
    looks = {name: threading.Event() for name in ("a.txt", "b.txt")}

    def look(path: Path) -> Kind:
        assert looks[path.name].wait(60)
        return "file"

    monkeypatch.setattr(dropped, "kind_of", look)
    ui.ask("Hello")
    chat = ui.window.chat.id
    for name in looks:
        (tmp_path / name).write_text("milk")
        drop(ui, files(tmp_path / name))
    attached = ui.page.composer.attached
    looks["a.txt"].set()
    ui.qtbot.waitUntil(lambda: len(ui.page.files.attachments) == 1)
    assert attached.is_reading, "the other file is still being looked at"
    ui.press("Ctrl+N")
    looks["b.txt"].set()
    ui.qtbot.waitUntil(lambda: not attached.is_reading)
    assert ui.window.chat.id is None
    assert not attached.has_files
    ui.window.open_chat(chat)
    ui.qtbot.waitUntil(lambda: len(ui.page.files.attachments) == 2)


def test_an_app_that_becomes_the_active_one_shows_a_window_that_was_closed_into_the_tray(
    ui: Ui,
) -> None:
    active = Qt.ApplicationState.ApplicationActive
    desktop = ui.window.desktop
    ui.window.hide()
    desktop.come_back(Qt.ApplicationState.ApplicationInactive)
    assert not ui.window.isVisible()
    # A quick question activates the app as well, but must not show the window.
    desktop.quick_ask()
    desktop.come_back(active)
    assert not ui.window.isVisible()
    ui.find(QWidget, "quickAsk").close()
    desktop.come_back(active)
    assert ui.window.isVisible()


def test_without_a_tray_closing_quits_and_the_settings_say_why(ui: Ui) -> None:
    ui.presenters.settings.set("close_to_tray", True)
    ui.press("Ctrl+,")
    dialog = ui.find(SettingsDialog)
    dialog.go_to("close_to_tray")
    assert "no tray" in ui.find(QLabel, "note-close_to_tray").text()
    notes = ui.window.desktop.notes()
    assert "no tray" in notes["tray"]
    assert "no notifications" in notes["notify"]
    dialog.close()
    ui.window.close()
    assert not ui.window.isVisible()


def test_keys_for_everywhere_say_what_is_wrong(ui: Ui) -> None:
    ui.presenters.settings.set("quick_ask_keys", "Ctrl+Alt+H")
    assert "No desktop with global shortcuts" in ui.window.desktop.notes()["quick_ask_keys"]
    ui.presenters.settings.set("quick_ask_keys", "H")
    assert "Add Ctrl, Alt or Meta" in ui.window.desktop.notes()["quick_ask_keys"]
    ui.presenters.settings.set("quick_ask_keys", "")
    assert ui.window.desktop.notes()["quick_ask_keys"] == ""
