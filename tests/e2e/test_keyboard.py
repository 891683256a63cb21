"""The keyboard alone does everything: nothing is clicked here."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.kit.widgets.toast import Toast
from app.window.desktop.pages.quick_ask import QuickAsk
from tests.e2e.looks import ways
from tests.e2e.looks.house import House, opened, settle

MOST_STEPS = 120
Key = Qt.Key
_NONE = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def focused() -> QWidget:
    """Return the widget that gets the keys."""
    popup = QApplication.activePopupWidget()
    if popup is not None:
        inside: QWidget | None = popup.focusWidget()
        return popup if inside is None else inside
    widget = QApplication.focusWidget()
    assert widget is not None, "nothing has the focus"
    return widget


def press(key: Qt.Key, modifiers: Qt.KeyboardModifier = _NONE) -> None:
    QTest.keyClick(focused(), key, modifiers)
    settle()


def write(text: str) -> None:
    QTest.keyClicks(focused(), text)
    settle()


def tab_to(name: str, most: int = MOST_STEPS) -> QWidget:
    """Press Tab until the widget with this name has the focus, and return it."""
    for _ in range(most):
        if focused().objectName() == name:
            assert not focused().visibleRegion().isEmpty(), f"{name} is not in sight"
            return focused()
        press(Key.Key_Tab)
    raise AssertionError(f"Tab does not reach {name}")


def choose(name: str) -> None:
    """Choose an entry of the open menu with the arrow keys and Enter."""
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    for _ in menu.actions():
        press(Key.Key_Down)
        action: QAction | None = menu.activeAction()
        if action is not None and action.objectName() == name:
            press(Key.Key_Return)
            return
    raise AssertionError(f"the arrow keys do not reach {name}")


def test_files_sources_options_and_toasts_need_no_mouse(
    qtbot: QtBot, qapp: QApplication, data_dir: Path
) -> None:
    with opened(qapp, data_dir, full=True) as house:
        for part in (refused_files, passages, faster_answers, toast, quick_ask, settings):
            part(house)
            house.tidy()
            house.window.activateWindow()
            settle()


def refused_files(house: House) -> None:
    """A user reads why a file is refused, and sends the others, or removes it."""
    ways.attached(house)
    press(Key.Key_L, CONTROL)
    tab_to("refusedFile")
    press(Key.Key_Return)
    assert house.has("refusedReason")
    press(Key.Key_Escape)
    assert not house.has("refusedReason")
    press(Key.Key_L, CONTROL)
    assert tab_to("send").accessibleName() == "Send without 1 file"
    press(Key.Key_Return)
    house.until("sentFiles")
    house.until_calm()
    house.window.page.files.add([house.hearth.folder.root / "made" / "a.bin"])
    house.until("refusedFile")
    press(Key.Key_L, CONTROL)
    tab_to("refusedFile")
    press(Key.Key_Delete)
    assert not house.has("refusedFile")


def passages(house: House) -> None:
    """The list of passages opens, and a passage of it at its place in the file."""
    press(Key.Key_F6)
    tab_to("showPassages")
    press(Key.Key_Return)
    assert house.has("passageCard")
    press(Key.Key_Tab)
    press(Key.Key_Return)
    house.until("fileViewer")
    house.until_calm()
    press(Key.Key_Escape)
    assert not house.has("fileViewer")


def faster_answers(house: House) -> None:
    """The card behind the menu of the message switches faster answers off and on."""
    press(Key.Key_L, CONTROL)
    tab_to("moreForMessage")
    press(Key.Key_Return)
    choose("openMtp")
    assert house.has("mtpCard")
    press(Key.Key_Escape)
    assert not house.has("mtpCard")


def toast(house: House) -> None:
    """The next Tab goes to the action of a toast, which closes by itself before long."""
    press(Key.Key_L, CONTROL)
    undone: list[str] = []
    house.window.notifier.offer("Something was done.", "Take it back", lambda: undone.append("it"))
    settle()
    tab_to("toastAction", most=2)
    press(Key.Key_Return)
    assert undone == ["it"]
    assert not house.part(QWidget, "messageEdit").findChildren(Toast)


def quick_ask(house: House) -> None:
    press(Key.Key_K, CONTROL | SHIFT)
    quick = house.part(QuickAsk)
    quick.activateWindow()
    settle()
    write("How many litres does a bath take?")
    press(Key.Key_Return)
    house.until("quickAnswer")
    house.until_calm()
    press(Key.Key_Escape)
    assert not house.has("quickAsk")


def settings(house: House) -> None:
    """A drop-down changes with the arrow keys, and *Reset* is the next stop."""
    press(Key.Key_Comma, CONTROL)
    dialog = house.part(QWidget, "settingsDialog")
    dialog.activateWindow()
    settle()
    tab_to("theme")
    before = house.presenters.settings.current.theme
    press(Key.Key_Down)
    assert house.presenters.settings.current.theme != before
    tab_to("reset-theme", most=2)
    press(Key.Key_Return)
    assert house.presenters.settings.current.theme == "system"
