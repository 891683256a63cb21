"""The command palette."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListWidget

from app.kit.look.icons import icon_file
from app.settings.pages.settings_dialog import SettingsDialog
from app.window.desktop.pages.palette import Palette
from app.window.desktop.pages.palette_items import Item, best
from app.window.desktop.pages.palette_sources import items_of
from app.window.pages.actions import commands
from tests.support.window import Ui


def titles(ui: Ui) -> list[str]:
    shown = ui.find(QListWidget, "paletteList")
    return [shown.item(row).text() for row in range(shown.count())]


def open_palette(ui: Ui, typed: str) -> QLineEdit:
    ui.press("Ctrl+Shift+P")
    field = ui.find(QLineEdit, "paletteField")
    ui.qtbot.waitUntil(field.hasFocus)
    QTest.keyClicks(field, typed)
    return field


def test_every_command_is_there_with_its_keys(ui: Ui) -> None:
    open_palette(ui, "")
    shown = ui.find(QListWidget, "paletteList")
    said = {
        shown.item(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(shown.count())
    }
    assert "New chat, Ctrl+N" in said
    texts = {command.text for command in commands()} - {"Command palette", "Stop the answer"}
    assert texts <= set(titles(ui)) or len(titles(ui)) == 50
    ui.find(Palette).close()


def test_a_command_is_carried_out_by_the_keyboard_alone(ui: Ui) -> None:
    field = open_palette(ui, "mdls")
    assert titles(ui)[0] == "Models"
    assert field.accessibleDescription() == "Models, Ctrl+M"
    QTest.keyClick(field, Qt.Key.Key_Return)
    ui.qtbot.waitUntil(lambda: ui.has("modelsPage"))
    assert not ui.has("palette")


def test_the_arrows_move_and_the_field_keeps_the_keyboard(ui: Ui) -> None:
    field = open_palette(ui, "zoom")
    shown = ui.find(QListWidget, "paletteList")
    QTest.keyClick(field, Qt.Key.Key_Down)
    assert shown.currentRow() == min(1, shown.count() - 1)
    QTest.keyClick(field, Qt.Key.Key_Up)
    QTest.keyClick(field, Qt.Key.Key_Up)
    assert shown.currentRow() == shown.count() - 1
    assert field.hasFocus()
    QTest.keyClick(field, Qt.Key.Key_Escape)
    ui.qtbot.waitUntil(lambda: not ui.has("palette"))


def test_a_chat_is_found_by_its_title_and_opened(ui: Ui) -> None:
    ui.ask("Where is the north wind?")
    first = ui.page.chat_id
    ui.press("Ctrl+N")
    field = open_palette(ui, "")
    QTest.keyClicks(field, "north")
    ui.qtbot.waitUntil(lambda: titles(ui)[:1] == ["Where is the north wind?"])
    QTest.keyClick(field, Qt.Key.Key_Return)
    ui.qtbot.waitUntil(lambda: ui.page.chat_id == first)


def test_a_setting_is_shown_where_it_is_changed(ui: Ui) -> None:
    field = open_palette(ui, "minp")
    assert titles(ui)[0] == "Min-p"
    QTest.keyClick(field, Qt.Key.Key_Return)
    dialog = ui.find(SettingsDialog)
    ui.qtbot.waitUntil(lambda: ui.has("min_p"))
    assert dialog.findChild(QLineEdit, "searchSettings") is not None
    dialog.close()


def test_nothing_that_fits_is_said(ui: Ui) -> None:
    field = open_palette(ui, "qqqqzzzz")
    assert ui.has("paletteNone")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert ui.has("palette")
    ui.find(Palette).close()


def test_commands_come_before_chats_that_fit_alike() -> None:
    chat = Item("chat", "Models", "Chat", print)
    command = Item("command", "Models", "Ctrl+M", print)
    assert best("models", [chat, command], 5) == [command, chat]
    assert best("", [chat, command], 1) == [chat]


def test_it_is_a_round_card_and_commands_have_icons_of_their_own(ui: Ui) -> None:
    open_palette(ui, "")
    palette = ui.find(Palette)
    picture = palette.grab().toImage()
    assert picture.pixelColor(0, 0).alpha() == 0
    assert picture.pixelColor(picture.width() // 2, 4).alpha() == 255
    palette.close()
    window = ui.window
    items = items_of(window.actions(), ui.presenters.settings.current, window.chooser, window)
    drawings = [item.drawing for item in items if item.kind == "command"]
    assert all(icon_file(drawing).is_file() for drawing in drawings)
    assert len(set(drawings)) > len(drawings) / 2
