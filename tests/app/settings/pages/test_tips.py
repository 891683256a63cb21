"""Tooltips and labels show texts of users, models and files unchanged, never as HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLabel,
    QToolTip,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.kit.widgets.elided_label import ElidedLabel
from app.settings.pages.appearance import Appearance
from app.settings.values.fields import Settings
from app.window.pages.pages import pages
from tests.support.window import Ui

MARKUP = "<b>bold</b> &lt; <img src='x.png'><h1>big"


def tip(ui: Ui) -> QLabel:
    """Return the visible tooltip."""

    def shown() -> list[QLabel]:
        labels = (it for it in QApplication.topLevelWidgets() if isinstance(it, QLabel))
        return [it for it in labels if it.inherits("QTipLabel") and it.isVisible()]

    ui.qtbot.waitUntil(lambda: len(shown()) == 1)
    return shown()[0]


def hover(widget: QWidget, at: QPoint) -> None:
    QToolTip.hideText()
    event = QHelpEvent(QEvent.Type.ToolTip, at, widget.mapToGlobal(at))
    QApplication.sendEvent(widget, event)


def is_as_written(label: QLabel, text: str) -> bool:
    return label.textFormat() is Qt.TextFormat.PlainText and text in label.text()


def test_the_tip_of_a_widget_is_plain(ui: Ui) -> None:
    label = ElidedLabel(MARKUP, parent=ui.window)
    label.setText(MARKUP)
    label.setGeometry(0, 0, 100, 30)
    label.show()
    hover(label, QPoint(5, 5))
    assert is_as_written(tip(ui), MARKUP)


def test_the_tips_of_lists_are_plain(ui: Ui) -> None:
    ui.ask(MARKUP)
    ui.settle()
    views = [it for it in ui.window.findChildren(QAbstractItemView) if it.isVisible()]
    seen = 0
    for view in views:
        model = view.model()
        for row in range(model.rowCount()):
            index = model.index(row, 0)
            words = index.data(Qt.ItemDataRole.ToolTipRole)
            if isinstance(words, str) and "<b>" in words:
                hover(view.viewport(), view.visualRect(index).center())
                assert is_as_written(tip(ui), "<b>bold</b>")
                seen += 1
    assert seen, "the chat's title is in the sidebar"


def test_the_tips_of_a_tree_are_plain(ui: Ui) -> None:
    tree = QTreeWidget(ui.window)
    row = QTreeWidgetItem(tree.invisibleRootItem(), ["a"])
    row.setToolTip(0, MARKUP)
    tree.setGeometry(0, 0, 200, 100)
    tree.show()
    hover(tree.viewport(), tree.visualItemRect(row).center())
    assert is_as_written(tip(ui), MARKUP)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_tips_stay_plain_when_the_look_changes(ui: Ui, theme: Literal["light", "dark"]) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    Appearance(app).apply(Settings(theme=theme, zoom=150))
    QToolTip.showText(ui.window.mapToGlobal(QPoint(9, 9)), MARKUP, ui.window)
    assert is_as_written(tip(ui), MARKUP)


def test_every_label_of_every_page_is_plain(ui: Ui, tmp_path: Path) -> None:
    ui.ask(MARKUP)
    for page in pages():
        ui.window.go_to(page.name)
        ui.settle()
    for window in QApplication.topLevelWidgets():
        for label in window.findChildren(QLabel):
            plain = label.textFormat() is Qt.TextFormat.PlainText
            assert plain or not label.text(), (label.objectName(), label.text())
