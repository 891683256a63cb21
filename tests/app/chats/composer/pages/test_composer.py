"""The row of buttons under the message, and the menu for those that do not fit."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from app.chats.composer.pages.composer import Composer
from app.chats.composer.pages.mtp_chip import MtpPopover
from tests.support.made_thinker import write_thinker
from tests.support.window import Ui, part


@pytest.fixture
def thinker(ui: Ui, tmp_path: Path) -> None:
    """Use a model whose reasoning can be switched."""
    ui.engine.says = {"thinking": "switch", "thinks": False}
    entry = ui.app.library.add(write_thinker(tmp_path / "thinker.gguf"))
    ui.presenters.settings.set("model", entry.id)
    ui.qtbot.waitUntil(lambda: ui.has("thinking"))


def place(ui: Ui, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(ui.window, QPoint(0, 0)), widget.size())


def buttons(ui: Ui) -> list[QAbstractButton]:
    found = ui.find(Composer).findChildren(QAbstractButton)
    return [it for it in found if it.isVisible()]


def menu(ui: Ui) -> QMenu:
    ui.click("moreForMessage")
    return ui.find(QMenu, "messageOptions")


@pytest.mark.usefixtures("thinker")
@pytest.mark.parametrize(
    ("width", "zoom"), [(540, 100), (800, 100), (1000, 150), (1000, 200), (1280, 200)]
)
def test_all_is_in_one_line_that_fits(ui: Ui, width: int, zoom: int) -> None:
    ui.presenters.settings.set("zoom", zoom)
    ui.window.resize(width, 640)
    ui.settle()
    inside = place(ui, ui.find(QWidget, "composer"))
    placed = sorted((place(ui, it) for it in buttons(ui)), key=QRect.left)
    assert max(it.top() for it in placed) < min(it.bottom() for it in placed)
    for one, other in pairwise(placed):
        assert one.right() < other.left()
    assert all(inside.contains(it) for it in placed)
    assert all(it.width() >= it.sizeHint().width() for it in buttons(ui))


@pytest.mark.usefixtures("thinker")
def test_what_has_no_room_is_in_the_menu(ui: Ui) -> None:
    options = ui.find(Composer).options
    shown = menu(ui)
    assert [it.objectName() for it in shown.actions()] == [
        "openMtp", "sendToAnother", "documentsOfChat", "insertPrompt",
    ]  # fmt: skip
    shown.close()
    options.setFixedWidth(20)
    ui.qtbot.waitUntil(lambda: not ui.has("thinking"))
    shown = menu(ui)
    part(shown, QAction, "think-on").trigger()
    assert ui.page.thinking.choice == "on"
    shown.close()
    ui.open_mtp()
    ui.find(MtpPopover).close()
    options.setFixedWidth(600)
    ui.qtbot.waitUntil(lambda: ui.has("thinking"))


def test_the_menu_covers_nothing_of_the_line(ui: Ui) -> None:
    shown = menu(ui)
    line = ui.find(QWidget, "moreForMessage")
    top = line.mapToGlobal(QPoint(0, 0)).y()
    assert shown.geometry().bottom() < top
    right = ui.window.mapToGlobal(QPoint(ui.window.width(), 0)).x()
    assert shown.geometry().right() < right
    shown.close()


def test_a_prompt_is_called_from_the_menu(ui: Ui) -> None:
    shown = menu(ui)
    action = part(shown, QAction, "insertPrompt")
    shown.close()
    action.trigger()
    assert ui.edit.toPlainText() == "/", "which opens the list"


def test_the_keys_that_send_are_in_the_tip(ui: Ui) -> None:
    button = ui.find(QAbstractButton, "send")
    assert button.toolTip() == "Send\nEnter sends, Shift+Enter makes a new line"
    ui.presenters.settings.set("send_with", "ctrl+enter")
    assert "Ctrl+Enter sends" in button.toolTip()
    assert "Ctrl+Enter sends" in ui.edit.accessibleDescription()


class _Painted(QObject):
    """A counter of a widget's paint events."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.Paint
        return super().eventFilter(watched, event)


def test_the_words_in_the_empty_field_are_painted_when_they_change(ui: Ui) -> None:
    ui.window.header.setFocus()
    ui.settle()
    painted = _Painted()
    ui.edit.viewport().installEventFilter(painted)
    ui.page.composer.set_assistant("another one")
    ui.qtbot.waitUntil(lambda: painted.count > 0)
    assert ui.edit.placeholderText() == "Message another one"
