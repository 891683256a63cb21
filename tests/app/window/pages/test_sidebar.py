"""The list of chats: searching, ordering, renaming, deleting with undo, moving about."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QWidget,
)

from app.chats.history.values.chat import ListedChat
from app.chats.history.values.places import ALL
from app.chats.sidebar.pages.chat_model import ROW
from app.kit.widgets.icon_button import IconButton
from app.window.pages.sidebar import Sidebar
from engines.errors import EngineFailed
from tests.support.window import Ui, part


@pytest.fixture
def three(ui: Ui) -> Ui:
    """Make three chats; Apples is the newest and open."""
    for title in ("Cherries", "Pears"):
        _, answer = ui.app.chats.ask(None, title)
        ui.app.chats.save_answer(replace(answer, text="Hello there", state="complete"))
    ui.ask("Apples")
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
    assert three.find(QLabel, "noChats").text() == "No chat contains “peax”."
    three.press("Esc")
    three.qtbot.waitUntil(lambda: len(three.titles) == 3)


def test_search_finds_what_was_answered(three: Ui) -> None:
    three.press("Ctrl+K")
    QTest.keyClicks(three.find(QLineEdit, "search"), "hello the")
    three.qtbot.waitUntil(lambda: three.has("hitList"))
    assert {hit.snippet for hit in three.window.sidebar.hits.hits} == {"Hello there"}
    assert three.titles == ["Apples", "Pears", "Cherries"]


def test_a_chat_is_renamed_in_its_place(three: Ui) -> None:
    three.press("F2")
    editor = three.chats.findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    QTest.keyClicks(editor, "Oranges")
    three.press("Return", editor)
    three.qtbot.waitUntil(lambda: three.titles[0] == "Oranges")
    three.qtbot.waitUntil(lambda: three.find(QLabel, "chatTitle").text() == "Oranges")
    assert three.presenters.chats.page(ALL, 0, 1)[0].title == "Oranges"


def test_the_open_chat_is_renamed_from_another_page(three: Ui) -> None:
    three.press("Ctrl+M")
    three.press("F2")
    assert not three.has("modelsPage")
    editor = three.chats.findChild(QLineEdit)
    assert editor is not None
    assert editor.text() == "Apples"


def test_an_empty_name_is_not_taken(three: Ui) -> None:
    three.press("F2")
    editor = three.chats.findChild(QLineEdit)
    assert editor is not None
    editor.clear()
    three.press("Return", editor)
    three.qtbot.waitUntil(lambda: three.titles[0] == "Apples")


def test_delete_can_be_undone_with_the_button(three: Ui) -> None:
    three.chats.setFocus()
    three.press("Del", three.chats)
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
    three.press("Ctrl+M")
    three.press("Ctrl+PgUp")
    assert three.texts[0] == "Pears", "it begins at the open chat from every page"


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
    heading = three.chats.chats.index(0)
    assert heading.data() == "Today"
    assert not heading.flags() & Qt.ItemFlag.ItemIsSelectable


def row_of(ui: Ui, text: str) -> QModelIndex:
    rows = (ui.chats.chats.index(row) for row in range(ui.chats.chats.rowCount()))
    return next(index for index in rows if index.data() == text)


def menu_of(ui: Ui, text: str) -> dict[str, QAction]:
    """Return the actions in the context menu of a row, by name."""
    place = ui.chats.visualRect(row_of(ui, text)).center()
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, place, ui.chats.viewport().mapToGlobal(place)
    )
    QApplication.sendEvent(ui.chats.viewport(), event)
    menu = ui.find(QMenu, "rowMenu")
    actions = [it for one in (menu, *menu.findChildren(QMenu)) for it in one.actions()]
    return {action.objectName() or action.text(): action for action in actions}


def pick(ui: Ui, text: str, what: str) -> None:
    menu_of(ui, text)[what].trigger()
    menu = QApplication.activePopupWidget()
    if menu is not None:
        menu.close()


def click(ui: Ui, text: str, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    place = ui.chats.visualRect(row_of(ui, text)).center()
    QTest.mouseClick(ui.chats.viewport(), Qt.MouseButton.LeftButton, keys, place)


def shown(ui: Ui) -> list[str]:
    """Return the texts of the rows, including headings and folders."""
    QApplication.processEvents()
    return [str(ui.chats.chats.index(row).data()) for row in range(ui.chats.chats.rowCount())]


def test_a_chat_is_exported_from_its_menu(three: Ui, tmp_path: Path) -> None:
    pick(three, "Apples", "export")
    three.click("exportGo")
    dialog = part(three.window, QFileDialog, "exportChat")
    assert dialog.selectedFiles()[0].endswith("Apples.md")
    dialog.fileSelected.emit(str(tmp_path / "Apples.md"))
    dialog.reject()
    three.qtbot.waitUntil((tmp_path / "Apples.md").exists)
    assert (tmp_path / "Apples.md").read_text("utf-8").startswith("# Apples")
    three.qtbot.waitUntil(lambda: three.has("toast"))


def test_a_pinned_chat_is_on_top_and_comes_down_again(three: Ui) -> None:
    pick(three, "Cherries", "pin")
    three.qtbot.waitUntil(
        lambda: shown(three) == ["Pinned", "Cherries", "Today", "Apples", "Pears"]
    )
    pick(three, "Cherries", "unpin")
    three.qtbot.waitUntil(lambda: shown(three) == ["Today", "Apples", "Pears", "Cherries"])


def test_the_open_chat_is_pinned_by_key(three: Ui) -> None:
    three.press("Ctrl+Shift+I")
    three.qtbot.waitUntil(lambda: shown(three)[:2] == ["Pinned", "Apples"])


def test_a_folder_is_made_named_filled_folded_and_removed(three: Ui) -> None:
    three.click("newFolder")
    editor = three.find(QLineEdit, "renameRow")
    assert editor.text() == "New folder"
    editor.selectAll()
    QTest.keyClicks(editor, "Fruit")
    three.press("Return", editor)
    three.qtbot.waitUntil(lambda: "Fruit" in shown(three))
    pick(three, "Pears", "Fruit")
    three.qtbot.waitUntil(
        lambda: shown(three) == ["Folders", "Fruit", "Pears", "Today", "Apples", "Cherries"]
    )
    assert three.find(QLabel, "toastLine1").text() == "Moved to “Fruit”."
    click(three, "Fruit")
    assert "Pears" not in shown(three)
    three.chats.setCurrentIndex(row_of(three, "Fruit"))
    three.press("Right", three.chats)
    assert "Pears" in shown(three)
    three.press("Del", three.chats)
    three.qtbot.waitUntil(lambda: shown(three) == ["Today", "Apples", "Pears", "Cherries"])
    three.press("Ctrl+Z")
    three.qtbot.waitUntil(lambda: shown(three)[:3] == ["Folders", "Fruit", "Pears"])


def test_a_chat_is_dropped_on_a_folder_and_the_move_undone(three: Ui) -> None:
    three.presenters.chats.make_folder("Fruit")
    three.qtbot.waitUntil(lambda: "Fruit" in shown(three))
    drop(three, "Pears", "Fruit")
    three.qtbot.waitUntil(lambda: shown(three)[:3] == ["Folders", "Fruit", "Pears"])
    three.press("Ctrl+Z", three.chats)
    three.qtbot.waitUntil(lambda: shown(three)[:3] == ["Folders", "Fruit", "Today"])


def test_a_chat_is_dropped_out_of_its_folder(three: Ui) -> None:
    pears = row_of(three, "Pears").data(ROW).chat.id
    three.presenters.chats.make_folder("Fruit", pears)
    three.qtbot.waitUntil(lambda: shown(three)[:3] == ["Folders", "Fruit", "Pears"])
    drop(three, "Pears", "Apples")
    three.qtbot.waitUntil(lambda: shown(three)[:3] == ["Folders", "Fruit", "Today"])


def drop(ui: Ui, what: str, on: str) -> None:
    data = ui.chats.chats.mimeData([row_of(ui, what)])
    place = ui.chats.visualRect(row_of(ui, on)).center().toPointF()
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    move = Qt.DropAction.MoveAction
    enter = QDragEnterEvent(place.toPoint(), move, data, buttons, keys)
    QApplication.sendEvent(ui.chats.viewport(), enter)
    assert enter.isAccepted()
    QApplication.sendEvent(ui.chats.viewport(), QDropEvent(place, move, data, buttons, keys))


def test_an_archived_chat_waits_in_the_archive(three: Ui) -> None:
    pick(three, "Pears", "archive")
    three.qtbot.waitUntil(lambda: three.titles == ["Apples", "Cherries"])
    three.press("Ctrl+Shift+H")
    assert three.titles == ["Pears"]
    click(three, "Pears")
    three.qtbot.waitUntil(lambda: three.texts == ["Pears", "Hello there"])
    pick(three, "Pears", "unarchive")
    three.qtbot.waitUntil(lambda: three.titles == [])
    assert three.find(QLabel, "noChats").text().startswith("The archive is empty.")
    three.click("backToChats")
    assert three.titles == ["Apples", "Pears", "Cherries"]


def is_gone(ui: Ui, title: str) -> bool:
    return title not in ui.titles


def test_the_trash_gives_back_and_asks_before_it_forgets(three: Ui) -> None:
    for title in ("Pears", "Cherries"):
        pick(three, title, "delete")
        three.qtbot.waitUntil(partial(is_gone, three, title))
    three.press("Ctrl+Shift+T")
    assert three.titles == ["Cherries", "Pears"]
    pick(three, "Cherries", "restore")
    three.qtbot.waitUntil(lambda: three.titles == ["Pears"])
    three.chats.setCurrentIndex(row_of(three, "Pears"))
    three.press("Del", three.chats)
    assert three.find(QLabel, "line1").text() == "Delete “Pears” for good?"
    assert three.find(QLabel, "line2").text() == "It cannot be restored after that."
    three.click("keep")
    assert three.titles == ["Pears"]
    three.click("emptyTrash")
    words = "The chat in it cannot be restored after that."
    assert three.find(QLabel, "line2").text() == words
    three.click("deleteForGood")
    three.qtbot.waitUntil(lambda: three.titles == [])
    three.click("backToChats")
    assert three.titles == ["Apples", "Cherries"]


def test_several_are_selected_and_deleted_and_come_back(three: Ui) -> None:
    assert not three.has("bulkBar")
    click(three, "Cherries", Qt.KeyboardModifier.ShiftModifier)
    assert three.find(QLabel, "bulkCount").text() == "3 selected"
    three.click("bulk-delete")
    three.qtbot.waitUntil(lambda: three.titles == [])
    assert three.page.chat_id is None
    three.press("Ctrl+Z")
    three.qtbot.waitUntil(lambda: three.titles == ["Apples", "Pears", "Cherries"])


def test_several_are_selected_by_key_and_escape_lets_go(three: Ui) -> None:
    three.chats.setFocus()
    three.press("Shift+Down", three.chats)
    assert three.find(QLabel, "bulkCount").text() == "2 selected"
    assert three.texts[0] == "Apples"
    three.press("Esc", three.chats)
    assert not three.has("bulkBar")
    assert three.has("chatList")


def test_several_are_exported_into_a_folder(three: Ui, tmp_path: Path) -> None:
    click(three, "Pears", Qt.KeyboardModifier.ControlModifier)
    three.click("bulk-export")
    three.click("exportGo")
    dialog = part(three.window, QFileDialog, "exportChats")
    into = tmp_path / "chats"
    into.mkdir()
    dialog.filesSelected.emit([str(into)])
    dialog.reject()
    names = ["Apples.md", "Pears.md"]
    three.qtbot.waitUntil(lambda: sorted(path.name for path in into.iterdir()) == names)


def test_a_selection_survives_what_happens_elsewhere(three: Ui) -> None:
    click(three, "Pears", Qt.KeyboardModifier.ControlModifier)
    cherries = row_of(three, "Cherries").data(ROW).chat.id
    three.presenters.chats.rename(cherries, "Plums")
    three.qtbot.waitUntil(lambda: three.titles[2] == "Plums")
    assert three.find(QLabel, "bulkCount").text() == "2 selected"


def test_a_row_offers_its_buttons_to_pointer_and_keyboard(three: Ui) -> None:
    assert not three.has("rowActions")
    QTest.mouseMove(three.chats.viewport(), three.chats.visualRect(row_of(three, "Pears")).center())
    assert three.find(IconButton, "rowAction").accessibleName() == "Pin Pears"
    three.chats.setFocus()
    three.chats.viewportEvent(QEvent(QEvent.Type.Leave))
    three.qtbot.waitUntil(
        lambda: three.find(IconButton, "rowAction").accessibleName() == "Pin Apples"
    )
    three.click("rowMore")
    assert three.has("rowMenu")
    three.find(QMenu, "rowMenu").close()


def test_a_folder_is_renamed_and_read_out(three: Ui) -> None:
    three.presenters.chats.make_folder("Fruit")
    three.qtbot.waitUntil(lambda: "Fruit" in shown(three))
    spoken = row_of(three, "Fruit").data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Folder Fruit, expanded, 0 chats"
    pick(three, "Fruit", "rename")
    editor = three.find(QLineEdit, "renameRow")
    editor.selectAll()
    QTest.keyClicks(editor, "Food")
    three.press("Return", editor)
    three.qtbot.waitUntil(lambda: "Food" in shown(three))


def test_a_hit_opens_its_chat_at_the_message(three: Ui) -> None:
    three.press("Ctrl+K")
    QTest.keyClicks(three.find(QLineEdit, "search"), "hello")
    three.qtbot.waitUntil(lambda: three.has("hitList"))
    three.qtbot.waitUntil(lambda: three.titles == ["Apples", "Pears", "Cherries"])
    three.press("Down", three.find(QLineEdit, "search"))
    three.press("Down", three.window.sidebar.hits)
    three.press("Return", three.window.sidebar.hits)
    three.qtbot.waitUntil(lambda: three.texts == ["Pears", "Hello there"])
    marked = three.last.view.extraSelections()
    assert [selection.cursor.selectedText() for selection in marked] == ["Hello"]


def test_fifty_thousand_chats_are_not_read_to_be_listed(ui: Ui) -> None:
    with ui.app.database.write() as db:
        db.executemany(
            "INSERT INTO chats (id, title, created, updated) VALUES (?, ?, ?, ?)",
            [(f"{n:032x}", f"Chat {n}", 1e9 + n, 1e9 + n) for n in range(50_000)],
        )
    model = ui.chats.chats
    ui.presenters.chats.changed.emit()
    assert model.rowCount() == 50_001
    assert model.chats_in_memory < 300
    ui.chats.scrollToBottom()
    QApplication.processEvents()
    assert model.chat_at(50_000) == ui.presenters.chats.chat(f"{0:032x}")
    for row in range(0, 50_000, 500):
        model.chat_at(row)
    assert model.chats_in_memory <= 1_200
    index = model.index_of(f"{25_000:032x}")
    assert index.data() == "Chat 25000"
    ui.chats.selectAll()
    assert len(ui.chats.selected_ids()) == 50_000


def mark_of(ui: Ui, title: str) -> str:
    QApplication.processEvents()
    chat: ListedChat = row_of(ui, title).data(ROW).chat
    return chat.mark


def said_of(ui: Ui, title: str) -> str:
    """Return the accessible text of a chat."""
    return str(row_of(ui, title).data(Qt.ItemDataRole.AccessibleTextRole))


def test_an_answer_that_is_written_elsewhere_is_marked_until_it_was_read(
    three: Ui, hold: threading.Event
) -> None:
    hold.clear()
    three.ask("And more", wait=False)
    three.qtbot.waitUntil(lambda: mark_of(three, "Apples") == "writing")
    assert said_of(three, "Apples") == "Apples, an answer is being written"
    click(three, "Pears")
    hold.set()
    three.qtbot.waitUntil(lambda: mark_of(three, "Apples") == "unread")
    assert said_of(three, "Apples") == "Apples, there is a new answer"
    click(three, "Apples")
    three.qtbot.waitUntil(lambda: mark_of(three, "Apples") == "")
    assert said_of(three, "Apples") == "Apples"


def test_an_answer_that_was_seen_coming_is_not_new(three: Ui) -> None:
    three.ask("And more")
    three.settle()
    assert mark_of(three, "Apples") == ""


def test_an_answer_that_comes_while_another_page_is_shown_is_new(
    three: Ui, hold: threading.Event
) -> None:
    hold.clear()
    three.ask("And more", wait=False)
    three.press("Ctrl+M")
    hold.set()
    three.qtbot.waitUntil(lambda: mark_of(three, "Apples") == "unread")
    three.window.go_to_chat()
    three.qtbot.waitUntil(lambda: mark_of(three, "Apples") == "")


def test_a_failed_answer_stays_marked_until_there_is_a_better_one(three: Ui) -> None:
    three.engine.error = EngineFailed("It failed.", "A test wants it.", "Try again.")
    three.ask("And more")
    three.qtbot.waitUntil(lambda: mark_of(three, "Apples") == "failed")
    assert said_of(three, "Apples") == "Apples, the last answer failed"
    three.engine.error = None
    three.press("Ctrl+R")
    three.qtbot.waitUntil(lambda: mark_of(three, "Apples") == "")


def test_a_folded_folder_shows_the_strongest_mark_of_its_chats(
    three: Ui, hold: threading.Event
) -> None:
    chats = three.presenters.chats
    ids = {title: row_of(three, title).data(ROW).chat.id for title in three.titles}
    chats.make_folder("Fruit", *ids.values())
    three.qtbot.waitUntil(lambda: "Fruit" in shown(three))
    chats.set_unread(ids["Cherries"], True)
    chats.set_unread(ids["Pears"], True)
    three.qtbot.waitUntil(lambda: mark_of(three, "Pears") == "unread")
    assert said_of(three, "Fruit") == "Folder Fruit, expanded, 3 chats"
    plain = three.chats.grab(three.chats.visualRect(row_of(three, "Fruit"))).toImage()
    click(three, "Fruit")
    assert said_of(three, "Fruit") == "Folder Fruit, collapsed, 3 chats, chats with a new answer: 2"
    assert row_of(three, "Fruit").data(Qt.ItemDataRole.ToolTipRole) == (
        "Fruit\nchats with a new answer: 2"
    )
    marked = three.chats.grab(three.chats.visualRect(row_of(three, "Fruit"))).toImage()
    assert plain != marked
    hold.clear()
    three.ask("And more", wait=False)
    three.qtbot.waitUntil(
        lambda: (
            said_of(three, "Fruit") == "Folder Fruit, collapsed, 3 chats, "
            "chats with an answer being written: 1, chats with a new answer: 2"
        )
    )
    hold.set()
    three.qtbot.waitUntil(lambda: "written" not in said_of(three, "Fruit"))


def test_the_mark_leaves_room_for_the_title_and_its_buttons(three: Ui) -> None:
    plain = three.chats.grab().toImage()
    apples = row_of(three, "Pears").data(ROW).chat.id
    three.presenters.chats.set_unread(apples, True)
    three.qtbot.waitUntil(lambda: mark_of(three, "Pears") == "unread")
    marked = three.chats.grab().toImage()
    row = three.chats.visualRect(row_of(three, "Pears"))
    half = row.center().x()
    assert plain.copy(row.adjusted(half, 0, 0, 0)) != marked.copy(row.adjusted(half, 0, 0, 0))
    assert plain.copy(0, row.y(), half, row.height()) == marked.copy(0, row.y(), half, row.height())


def tabbed(ui: Ui) -> list[QWidget]:
    """Return the widgets that Tab reaches in the sidebar, in order."""
    first = ui.find(QWidget, "hideSidebar")
    first.setFocus()
    reached: list[QWidget] = []
    while (focus := QApplication.focusWidget()) and ui.window.sidebar.isAncestorOf(focus):
        if focus in reached:
            assert focus is first, f"{focus.objectName()} comes twice"
            break
        reached.append(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        QApplication.processEvents()
    return reached


def reading_order(widget: QWidget) -> tuple[int, int]:
    """Return a sort key: by row, with a tolerance in height, then from the left."""
    place = widget.mapTo(widget.window(), widget.rect().center())
    return place.y() // 12, place.x()


@pytest.mark.parametrize("size", [(1120, 760), (800, 560), (560, 500)])
def test_tab_goes_in_the_order_that_one_sees(three: Ui, size: tuple[int, int]) -> None:
    three.window.resize(*size)
    three.window.set_sidebar(True)
    reached = tabbed(three)
    assert [widget.objectName() for widget in reached] == [
        *("hideSidebar", "newChat", "search", "place", "newFolder", "chatList"),
        *("rowAction", "rowMore", "scratchChat", "showAssistants", "showDocuments"),
        *("showModels", "settings", "morePages"),
    ]
    fixed = [it for it in reached if not it.objectName().startswith("row")]
    assert sorted(fixed, key=reading_order) == fixed


def test_what_is_made_later_is_reached_where_it_is_seen(three: Ui) -> None:
    three.chats.setFocus()
    three.press("Ctrl+A", three.chats)
    names = [widget.objectName() for widget in tabbed(three)]
    after = names[names.index("chatList") + 1 : names.index("scratchChat")]
    assert after[:4] == ["bulkNone", "bulkMove", "bulk-pin", "bulk-archive"]
    assert after[4:] == ["bulk-export", "bulk-delete"]
    three.press("Esc")
    three.press("Ctrl+K")
    QTest.keyClicks(three.find(QLineEdit, "search"), "hello")
    three.qtbot.waitUntil(lambda: three.has("hitList"))
    names = [widget.objectName() for widget in tabbed(three)]
    assert names[: names.index("scratchChat")] == ["hideSidebar", "newChat", "search", "hitList"]


@pytest.mark.parametrize(
    ("size", "percent"),
    [((800, 560), 100), ((900, 600), 150), ((1000, 640), 150), ((1000, 640), 200)],
)
def test_a_low_window_has_room_for_chats(three: Ui, size: tuple[int, int], percent: int) -> None:
    three.window.resize(*size)
    three.presenters.settings.set("zoom", percent)
    three.window.set_sidebar(True)
    rows = [row_of(three, title) for title in ("Apples", "Pears", "Cherries")]

    def has_room() -> bool:
        room = three.chats.viewport().rect()
        return all(room.contains(three.chats.visualRect(row)) for row in rows)

    three.qtbot.waitUntil(has_room)
    sidebar = three.window.sidebar
    seen = [
        it for it in sidebar.findChildren(QAbstractButton) if it.isVisible() and it.objectName()
    ]
    inside = [it for it in seen if not three.chats.isAncestorOf(it)]
    for button in inside:
        place = QRect(button.mapTo(sidebar, QPoint()), button.size())
        assert sidebar.rect().contains(place), button.objectName()
        assert button.width() >= button.minimumSizeHint().width(), button.objectName()
        assert button.accessibleName()


def test_a_chat_is_duplicated_and_the_copy_opened(three: Ui) -> None:
    pick(three, "Pears", "duplicate")
    three.qtbot.waitUntil(lambda: three.titles == ["Pears (copy)", "Apples", "Pears", "Cherries"])
    three.qtbot.waitUntil(lambda: three.texts == ["Pears", "Hello there"])
    three.ask("And more")
    assert len(three.texts) == 4
    click(three, "Pears")
    assert three.texts == ["Pears", "Hello there"]
    three.press("Ctrl+Shift+M")
    three.qtbot.waitUntil(lambda: three.titles.count("Pears (copy)") == 2)


def test_single_chats_are_chosen_by_control_and_put_into_a_folder(three: Ui) -> None:
    click(three, "Cherries", Qt.KeyboardModifier.ControlModifier)
    assert three.find(QLabel, "bulkCount").text() == "2 selected"
    assert three.texts[0] == "Apples", "choosing opens nothing"
    menu = three.find(IconButton, "bulkMove").menu()
    menu.aboutToShow.emit()
    next(it for it in menu.actions() if it.text() == "New folder").trigger()
    editor = three.find(QLineEdit, "renameRow")
    three.press("Return", editor)
    three.qtbot.waitUntil(
        lambda: shown(three) == ["Folders", "New folder", "Apples", "Cherries", "Today", "Pears"]
    )


def test_chosen_chats_are_pinned_and_unpinned_again(three: Ui) -> None:
    three.chats.setFocus()
    three.press("Ctrl+A", three.chats)
    assert not three.has("bulk-unpin")
    three.click("bulk-pin")
    three.qtbot.waitUntil(lambda: shown(three) == ["Pinned", "Apples", "Pears", "Cherries"])
    assert three.find(QLabel, "bulkCount").text() == "3 selected"
    assert not three.has("bulk-pin")
    three.click("bulk-unpin")
    three.qtbot.waitUntil(lambda: shown(three) == ["Today", "Apples", "Pears", "Cherries"])
    assert three.has("bulk-pin")
    click(three, "Apples")
    three.press("Ctrl+Shift+I")
    three.qtbot.waitUntil(lambda: shown(three)[:2] == ["Pinned", "Apples"])
    click(three, "Pears", Qt.KeyboardModifier.ControlModifier)
    assert three.find(QLabel, "bulkCount").text() == "2 selected"
    three.click("bulk-pin")  # one of the two is already pinned
    three.qtbot.waitUntil(lambda: shown(three)[:3] == ["Pinned", "Apples", "Pears"])
    chosen = [three.presenters.chats.chat(chat_id) for chat_id in three.chats.selected_ids()]
    assert [chat.title for chat in chosen if chat] == ["Apples", "Pears"]
    assert three.has("bulk-unpin")


def test_chats_are_chosen_by_keys_and_archived(three: Ui) -> None:
    three.chats.setFocus()
    three.press("Shift+Down", three.chats)
    assert three.find(QLabel, "bulkCount").text() == "2 selected"
    three.click("bulk-archive")
    three.qtbot.waitUntil(lambda: three.titles == ["Cherries"])
    three.press("Ctrl+Shift+H")
    assert sorted(three.titles) == ["Apples", "Pears"]


def marked(ui: Ui) -> list[str]:
    """Return the names of the marked buttons in the sidebar that are visible."""
    buttons = ui.window.sidebar.findChildren(QAbstractButton)
    return [it.objectName() for it in buttons if it.isVisible() and it.isChecked()]


@pytest.mark.parametrize("size", [(1120, 760), (560, 500)])
def test_the_open_page_is_marked_and_no_chat_beside_it(three: Ui, size: tuple[int, int]) -> None:
    three.window.resize(*size)
    three.window.set_sidebar(True)
    assert marked(three) == []
    assert three.chats.selected_ids()
    for name, keys in (("showAssistants", "Ctrl+Shift+A"), ("showModels", "Ctrl+M")):
        three.press(keys)
        three.window.set_sidebar(True)
        assert marked(three) == [name]
        three.click(name)
        three.window.set_sidebar(True)
        assert marked(three) == [name], "a click on the open page leaves it open"
        assert not three.chats.selected_ids()
    three.press("Ctrl+Shift+R")
    three.window.set_sidebar(True)
    assert marked(three) == ["morePages"], "where the page has no button of its own"
    three.press("Ctrl+N")
    three.window.set_sidebar(True)
    assert marked(three) == []


@pytest.mark.parametrize("size", [(1120, 760), (560, 500)])
def test_more_leads_to_every_page_without_a_button(three: Ui, size: tuple[int, int]) -> None:
    three.window.resize(*size)
    reached = {
        "show_engines": "enginesPage",
        "show_api": "apiCard",
        "show_activity": "activityPage",
        "show_servers": "serversPage",
        "show_connections": "connectionsPage",
        "show_help": "helpPage",
    }
    for command, page in reached.items():
        three.window.set_sidebar(True)
        three.click("morePages")
        menu = three.find(QMenu, "pagesMenu")
        assert [action.objectName() for action in menu.actions()] == list(reached)
        part(menu, QAction, command).trigger()
        menu.close()
        three.qtbot.waitUntil(partial(three.has, page))
