"""The list of chats: search, rename, delete and undo, moving about."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QMenu

from app.ui.sidebar.chat_list import ChatList
from app.ui.sidebar.groups import group_of
from app.ui.sidebar.sidebar import Sidebar
from tests.app.ui.conftest import Ui


@pytest.fixture
def three(ui: Ui) -> Ui:
    """Three chats: Apples is the newest and open."""
    for title in ("Cherries", "Pears", "Apples"):
        ui.press("Ctrl+N")
        ui.ask(title)
    assert ui.titles == ["Apples", "Pears", "Cherries"]
    return ui


def test_an_empty_list_says_so(ui: Ui) -> None:
    assert ui.find(QLabel, "noChats").text() == "Your chats will be listed here."


def test_search_filters_while_one_types(three: Ui) -> None:
    three.press("Ctrl+K")
    field = three.find(QLineEdit, "search")
    assert field.hasFocus()
    QTest.keyClicks(field, "pea")
    three.qtbot.waitUntil(lambda: three.titles == ["Pears"])
    QTest.keyClicks(field, "x")
    three.qtbot.waitUntil(lambda: three.titles == [])
    assert three.find(QLabel, "noChats").text() == "No chat holds “peax”."
    three.press("Esc")
    three.qtbot.waitUntil(lambda: len(three.titles) == 3)


def test_search_finds_what_was_answered(three: Ui) -> None:
    three.press("Ctrl+K")
    QTest.keyClicks(three.find(QLineEdit, "search"), "hello che")
    three.qtbot.waitUntil(lambda: three.titles == ["Cherries"])


def test_a_chat_is_renamed_in_its_place(three: Ui) -> None:
    three.press("F2")
    editor = three.chats.findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    QTest.keyClicks(editor, "Oranges")
    three.press("Return", editor)
    three.qtbot.waitUntil(lambda: three.titles[0] == "Oranges")
    three.qtbot.waitUntil(lambda: three.find(QLabel, "chatTitle").text() == "Oranges")
    assert three.services.chats.list()[0].title == "Oranges"


def test_an_empty_name_is_not_taken(three: Ui) -> None:
    three.press("F2")
    editor = three.chats.findChild(QLineEdit)
    assert editor is not None
    editor.clear()
    three.press("Return", editor)
    three.qtbot.waitUntil(lambda: three.titles[0] == "Apples")


def test_delete_can_be_undone_with_the_button(three: Ui) -> None:
    three.press("Ctrl+D")
    three.qtbot.waitUntil(lambda: three.titles == ["Pears", "Cherries"])
    assert three.page.chat_id is None
    assert three.find(QLabel, "toastLine1").text() == "“Apples” was deleted."
    three.click("toastAction")
    three.qtbot.waitUntil(lambda: three.titles == ["Apples", "Pears", "Cherries"])
    three.qtbot.waitUntil(lambda: three.texts == ["Apples", "Hello there"])


def test_delete_and_undo_with_the_keyboard(three: Ui) -> None:
    three.chats.setFocus()
    three.press("Del", three.chats)
    three.qtbot.waitUntil(lambda: three.titles == ["Pears", "Cherries"])
    three.press("Ctrl+Z")
    three.qtbot.waitUntil(lambda: three.titles == ["Apples", "Pears", "Cherries"])
    assert not three.has("toastAction")


def test_moving_through_the_chats(three: Ui) -> None:
    three.press("Ctrl+PgDown")
    assert three.texts[0] == "Pears"
    three.press("Ctrl+PgDown")
    three.press("Ctrl+PgDown")
    assert three.texts[0] == "Cherries"
    three.press("Ctrl+PgUp")
    assert three.texts[0] == "Pears"


def test_arrows_open_and_enter_leads_to_the_composer(three: Ui) -> None:
    three.chats.setFocus()
    three.press("Down", three.chats)
    assert three.texts[0] == "Pears"
    assert three.chats.hasFocus()
    three.press("Return", three.chats)
    assert three.edit.hasFocus()


def test_the_sidebar_folds(ui: Ui) -> None:
    ui.press("Ctrl+B")
    assert not ui.has("sidebar")
    ui.click("showSidebar")
    assert ui.has("sidebar")
    ui.press("Ctrl+B")
    ui.press("Ctrl+K")
    assert ui.find(Sidebar).isVisible()
    assert QApplication.focusWidget() is ui.find(QLineEdit, "search")


def test_headings_cannot_be_chosen(three: Ui) -> None:
    heading = three.find(ChatList).item(0)
    assert heading.text() == "Today"
    assert not heading.flags() & Qt.ItemFlag.ItemIsSelectable


def test_days_are_local() -> None:
    zone = timezone(timedelta(hours=2))
    now = datetime(2026, 5, 10, 0, 30, tzinfo=zone)
    ages = {"today": 0.4, "yesterday": 1, "week": 72, "earlier": 24 * 9}
    for group, hours in ages.items():
        assert group_of((now - timedelta(hours=hours)).timestamp(), now) == group


def test_a_chat_is_exported_from_its_menu(three: Ui, tmp_path: Path) -> None:
    item = three.chats.currentItem()
    assert item is not None
    three.chats.customContextMenuRequested.emit(three.chats.visualItemRect(item).center())
    menu = three.find(QMenu)
    export = next(action for action in menu.actions() if action.text().startswith("Export"))
    export.trigger()
    menu.close()
    dialog = three.window.findChild(QFileDialog, "exportChat")
    assert dialog is not None
    assert dialog.selectedFiles()[0].endswith("Apples.md")
    dialog.fileSelected.emit(str(tmp_path / "Apples.md"))
    dialog.reject()
    three.qtbot.waitUntil((tmp_path / "Apples.md").exists)
    assert (tmp_path / "Apples.md").read_text("utf-8").startswith("# Apples")
    three.qtbot.waitUntil(lambda: three.has("toast"))
