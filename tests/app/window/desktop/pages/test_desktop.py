"""Zoom keys, the menu bar, drops, and the tray and notifications without a desktop."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget

from app.kit.widgets.toast import Toast
from app.settings.pages.settings_dialog import SettingsDialog
from app.window.desktop.pages.drops import Drops
from app.window.pages.actions import commands
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


def test_who_imports_comes_first(ui: Ui, tmp_path: Path) -> None:
    taken: list[Path] = []

    def take(path: Path) -> bool:
        taken.append(path)
        return True

    path = tmp_path / "chat.json"
    path.write_text("{}")
    drops = Drops(ui.window, [], take)
    attached: list[list[Path]] = []
    drops.files.connect(attached.append)
    drops.take_files([path])
    assert (taken, attached) == ([path], [])


@pytest.mark.parametrize("name", ["m.gguf", "M.GGUF", "m.gguf.part1of2", "m.gguf.001"])
def test_a_piece_of_a_model_that_is_dropped_is_no_attachment(
    ui: Ui, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"GGUF")
    drops = Drops(ui.window, [], lambda _: False)
    models: list[list[Path]] = []
    drops.models.connect(models.append)
    drops.take_files([path])
    assert models == [[path]]


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
