"""The main window: keys, names, models, links, and its stored state."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QPushButton,
    QSplitterHandle,
    QWidget,
)

from app.base.errors import DiskFull
from app.base.shipped import STARTER
from app.kit.widgets.toast import Toast
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.window.pages.actions import commands
from app.window.pages.main_window import MainWindow
from app.window.pages.shortcuts_dialog import ShortcutsDialog
from app.window.values.window_state import WindowState
from tests.support.control_names import all_named
from tests.support.window import Ui

CAME = Download("1", DownloadRequest("ada/M-GGUF", "a" * 40, (), "ada/M-GGUF Q4_K_M"), "done")


def test_every_control_has_a_name(ui: Ui) -> None:
    ui.engine.pieces = ("```python\nx\n```",)
    ui.ask("Hi")
    all_named(ui, ui.window)
    ui.press("Ctrl+,")
    ui.has("settingsDialog")
    for window in QApplication.topLevelWidgets():
        all_named(ui, window)
    ui.find(QWidget, "settingsDialog").close()


def test_every_command_has_its_keys_and_no_two_share_one(ui: Ui) -> None:
    actions = {action.objectName(): action for action in ui.window.findChildren(QAction)}
    keys: list[str] = []
    for command in commands():
        wanted = [QKeySequence(key) for key in command.keys]
        assert actions[command.name].shortcuts() == wanted
        keys += command.keys
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("keys", ["F1", "Ctrl+/"])
def test_the_shortcuts_are_listed(ui: Ui, keys: str) -> None:
    ui.press(keys)
    dialog = ui.find(ShortcutsDialog)
    shown = {label.text() for label in dialog.findChildren(QLabel)}
    for command in commands():
        assert command.text in shown
    dialog.close()


def test_the_composer_is_reached_from_anywhere(ui: Ui) -> None:
    ui.press("Ctrl+K")
    assert not ui.edit.hasFocus()
    ui.press("Ctrl+L")
    assert ui.edit.hasFocus()
    ui.press("Ctrl+K")
    ui.press("Esc")
    assert ui.edit.hasFocus()


def test_the_composer_is_reached_from_another_page(ui: Ui) -> None:
    ui.ask("Hi")
    ui.press("Ctrl+M")
    assert ui.has("modelsPage")
    ui.press("Ctrl+L")
    assert not ui.has("modelsPage")
    assert ui.edit.hasFocus()


def test_the_guide_says_that_it_is_one_and_leads_to_models(ui: Ui) -> None:
    assert "tiny model that only knows Hearth" in ui.find(QLabel, "guideBannerText").text()
    ui.click("getModel")
    assert ui.has("modelsPage")
    ui.qtbot.waitUntil(lambda: ui.has("offer-default"))
    ui.click("backToChat")
    assert not ui.has("modelsPage")


def test_a_model_is_added_used_and_removed(ui: Ui, tmp_path: Path) -> None:
    path = tmp_path / "my-model.gguf"
    path.write_bytes(STARTER.read_bytes())
    ui.press("Ctrl+M")
    ui.presenters.settings.set("adding", "link")
    ui.window.chooser.take([path])
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == "my-model")
    ui.qtbot.waitUntil(lambda: "my-model" in ui.find(QPushButton, "modelMenu").text())
    ui.press("Ctrl+N")
    assert not ui.has("guideBanner")
    ui.press("Ctrl+M")
    ui.qtbot.waitUntil(lambda: ui.has("details-my-model"))
    ui.settle()  # the row is replaced when it has something new to show
    ui.click("details-my-model")
    ui.click("takeOffList")
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == "starter")
    assert [entry.id for entry in ui.presenters.models.list()] == ["starter"]
    assert path.exists()


def test_a_file_that_is_no_model_is_explained(ui: Ui, tmp_path: Path) -> None:
    path = tmp_path / "shopping.gguf"
    path.write_text("milk")
    ui.presenters.settings.set("adding", "link")
    ui.window.chooser.take([path])
    ui.qtbot.waitUntil(lambda: ui.has("toastLine3"))
    assert "shopping.gguf" in ui.find(QLabel, "toastLine1").text()
    ui.click("toastClose")


def test_a_link_is_opened_only_after_a_question(ui: Ui, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    ui.window.notifier.ask_to_open("https://example.com/")
    assert ui.find(QLabel, "line2").text() == "https://example.com/"
    ui.click("cancel")
    assert opened == []
    ui.window.notifier.ask_to_open("https://example.com/")
    ui.click("open")
    assert opened == [QUrl("https://example.com/")]


def test_offline_no_link_is_opened(ui: Ui) -> None:
    ui.presenters.settings.set("offline", True)
    ui.window.notifier.ask_to_open("https://example.com/")
    ui.find(QLabel, "line3")
    assert not ui.has("open")
    ui.click("copy")
    assert QGuiApplication.clipboard().text() == "https://example.com/"


def test_other_addresses_are_not_even_asked_about(ui: Ui) -> None:
    ui.window.notifier.ask_to_open("file:///etc/passwd")
    assert not ui.has("messageDialog")


def test_escape_goes_back_and_stops_only_the_answer_that_is_seen(
    ui: Ui, hold: threading.Event
) -> None:
    hold.clear()
    ui.ask("Hi", wait=False)
    ui.wait_for_text("Hello")
    chat = ui.page.chat_id
    assert chat is not None
    for keys, page in (("Shift+F1", "helpPage"), ("Ctrl+Shift+J", "connectionsPage")):
        ui.press(keys)
        assert ui.has(page)
        ui.press("Esc")
        assert ui.has("composer")
        assert ui.edit.hasFocus()
    # Out of a part of a page it leads to the page first, and it empties a search.
    ui.press("Shift+F1")
    ui.click("guide-first-steps")
    assert ui.has("guidePage")
    ui.press("Esc")
    assert ui.has("helpPage")
    assert not ui.has("guidePage")
    search = ui.find(QLineEdit, "searchGuides")
    QTest.keyClicks(search, "memory")
    ui.press("Esc")
    assert search.text() == ""
    ui.press("Esc")
    assert ui.has("composer")
    assert ui.presenters.generation.is_answering(chat)
    ui.press("Esc")
    ui.wait_for_answer()
    assert ui.last.message.state == "stopped"


def test_the_window_comes_back_as_it_was(ui: Ui) -> None:
    ui.window.resize(780, 700)
    width = drag_sidebar(ui, -24)
    ui.press("Ctrl+B")
    state = ui.window.state()
    assert state.sidebar is False
    ui.window.resize(600, 500)
    ui.press("Ctrl+B")
    ui.window.restore(state)
    assert (ui.window.width(), ui.window.height()) == (780, 700)
    assert not ui.has("sidebar")
    ui.press("Ctrl+B")
    assert ui.window.sidebar.width() == width
    assert ui.window.state().sidebar_width == width


def drag_sidebar(ui: Ui, by: int) -> int:
    """Drag the sidebar's edge by this many pixels, and return the new width."""
    before = ui.window.sidebar.width()
    edge = next(it for it in ui.window.findChildren(QSplitterHandle) if it.isVisible())
    at = edge.rect().center()
    QTest.mousePress(edge, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(edge, at + QPoint(by, 0))
    QTest.mouseRelease(edge, Qt.MouseButton.LeftButton, pos=at)
    width = ui.window.sidebar.width()
    assert abs(width - before - by) <= edge.width()
    return width


def test_the_width_that_was_given_to_the_sidebar_follows_the_zoom(ui: Ui) -> None:
    ui.window.resize(1900, 800)
    width = drag_sidebar(ui, 36)
    for percent in (150, 200, 80, 100):
        ui.presenters.settings.set("zoom", percent)
        assert abs(ui.window.sidebar.width() - width * percent / 100) <= 1


def test_in_a_narrow_window_the_sidebar_takes_the_place_of_the_page(ui: Ui) -> None:
    ui.window.resize(1000, 640)
    ui.ask("Apples")
    ui.presenters.settings.set("zoom", 200)
    assert not ui.has("sidebar")
    ui.click("showSidebar")
    assert ui.window.sidebar.width() == 1000
    assert not ui.has("composer")
    QTest.mouseClick(
        ui.chats.viewport(),
        Qt.MouseButton.LeftButton,
        pos=ui.chats.visualRect(ui.chats.chats.index(1)).center(),
    )
    assert ui.edit.hasFocus()
    assert not ui.has("sidebar")
    assert ui.window.state().sidebar, "it stays as it was wanted where there is room"
    ui.presenters.settings.set("zoom", 100)
    assert ui.window.sidebar.width() == 264


@pytest.mark.parametrize("keys", ["Ctrl+N", "Ctrl+M", "Esc", "Ctrl+B"])
def test_a_narrow_sidebar_gives_way_to_what_is_wanted(ui: Ui, keys: str) -> None:
    ui.window.resize(560, 500)
    ui.press("Ctrl+K")
    assert ui.has("sidebar")
    assert ui.find(QLineEdit, "search").hasFocus()
    ui.press(keys)
    assert not ui.has("sidebar")


@pytest.mark.parametrize(
    ("keys", "shown"), [("Ctrl+M", "modelsPage"), ("Ctrl+N", "composer"), ("Esc", "composer")]
)
def test_chat_settings_in_place_of_the_page_give_way_to_what_is_wanted(
    ui: Ui, keys: str, shown: str
) -> None:
    ui.window.resize(700, 560)
    ui.click("toggleChatSettings")
    assert ui.has("chatSettings")
    assert not ui.has("composer")
    ui.press(keys)
    assert ui.has(shown)
    assert not ui.has("chatSettings")


def test_arrows_look_through_the_chats_of_a_narrow_sidebar(ui: Ui) -> None:
    for title in ("Pears", "Apples"):
        ui.press("Ctrl+N")
        ui.ask(title)
    ui.window.resize(560, 500)
    ui.press("Ctrl+B")
    ui.chats.setFocus()
    ui.press("Down", ui.chats)
    assert ui.has("sidebar")
    ui.press("Return", ui.chats)
    assert not ui.has("sidebar")
    assert ui.texts[0] == "Pears"


def test_the_window_is_as_wide_at_each_start_as_at_the_last(ui: Ui) -> None:
    state = WindowState()
    for _ in range(2):
        window = MainWindow(ui.presenters.chats, ui.presenters.settings.current)
        window.resize(700, 600)
        window.restore(state)
        window.show()
        assert (window.width(), window.height()) == (700, 600)
        state = window.state()
        window.close()
        shiboken6.delete(window)


def test_the_first_time_it_is_no_larger_than_its_screen(ui: Ui) -> None:
    ui.window.resize(5000, 4000)
    ui.window.restore(WindowState())
    room = ui.window.screen().availableSize()
    assert ui.window.width() == room.width()
    assert 0 < room.height() - ui.window.height() < 64, "with room for the system's bar above"


def test_what_was_kept_on_a_larger_screen_is_no_larger_than_this_one(ui: Ui) -> None:
    kept = bytearray.fromhex(ui.window.state().geometry)
    kept[46:50] = (9000).to_bytes(4, "big")  # the width of the screen it was on
    ui.window.resize(5000, 4000)
    ui.window.restore(WindowState(kept.hex()))
    room = ui.window.screen().availableSize()
    assert ui.window.size().boundedTo(room) == ui.window.size()


def test_a_state_of_nonsense_changes_nothing(ui: Ui) -> None:
    ui.window.resize(700, 600)
    size = ui.window.size()
    ui.window.restore(WindowState("zz", True, 264))
    assert ui.window.size() == size


def test_what_comes_again_is_said_once(ui: Ui) -> None:
    for _ in range(3):
        ui.window.notifier.error(DiskFull("The disk is full.", "No room.", "Free some."))
    ui.window.notifier.error(DiskFull("Another disk is full.", "No room.", "Free some."))
    ui.window.notifier.say_copied()
    ui.window.notifier.say_copied()
    shown = [toast for toast in ui.window.findChildren(Toast) if toast.isVisible()]
    assert len(shown) == 3


@pytest.mark.parametrize("usual", ["starter", "other"])
def test_one_chats_with_a_model_that_has_come(ui: Ui, tmp_path: Path, usual: str) -> None:
    ui.presenters.settings.set("adding", "link")
    for name in ("came", "other"):
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(STARTER.read_bytes())
        ui.window.chooser.take([path])
        ui.qtbot.waitUntil(partial(is_added, ui, name))
        ui.settle()
    ui.window.chooser.use_from_now_on(usual)
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == usual)
    ui.press("Ctrl+N")
    ui.ask("Apples")
    before = ui.page.chat_id
    ui.press("Ctrl+M")
    entry = next(it for it in ui.presenters.models.list() if it.id == "came")
    ui.presenters.downloads.completed.emit(CAME, entry)
    ui.qtbot.waitUntil(lambda: toast_action(ui) is not None)
    button = toast_action(ui)
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert ui.page.chat_id is None
    assert ui.edit.hasFocus()
    assert ui.window.chooser.current() == "came"
    default = "came" if usual == "starter" else "other"
    ui.qtbot.waitUntil(lambda: ui.presenters.settings.current.model == default)
    ui.ask("Pears")
    assert ui.presenters.chat_settings.own(ui.page.chat_id).model == "came"
    assert ui.presenters.chat_settings.model(before) == usual
    assert not ui.has("downloadStrip")


def is_added(ui: Ui, model: str) -> bool:
    return model in [it.id for it in ui.presenters.models.list()]


def toast_action(ui: Ui) -> QPushButton | None:
    """Return the button of the toast that announces a model, if it is visible."""
    found = ui.window.findChildren(QPushButton, "toastAction")
    return next((it for it in found if it.isVisible() and it.text() == "Chat with it"), None)
