"""Every word that a window shows or reports to a screen reader."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPlainTextEdit,
    QWidget,
)

_ROWS = 40
_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
)


def words_of(window: QWidget) -> Iterator[tuple[str, str]]:
    """Yield each text of the window's visible parts, and its place."""
    for widget in (window, *window.findChildren(QWidget)):
        if widget.isVisible():
            place = f"{type(widget).__name__} {widget.objectName()}"
            for text in _texts(widget):
                if text:
                    yield text, place


def _texts(widget: QWidget) -> Iterator[str]:
    yield widget.accessibleName()
    yield widget.accessibleDescription()
    yield widget.toolTip()
    if widget.isWindow():
        yield widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        yield widget.placeholderText()
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(at) for at in range(widget.count()))
    elif isinstance(widget, QAbstractItemView):
        yield from _items(widget)
    if isinstance(widget, QMenu):
        yield from (action.text() for action in widget.actions())
    for action in widget.findChildren(QAction, options=Qt.FindChildOption.FindDirectChildrenOnly):
        yield action.text()


def _items(view: QAbstractItemView) -> Iterator[str]:
    if not isinstance(view, QListView):
        return
    model = view.model()
    for row in range(min(_ROWS, model.rowCount(QModelIndex()))):
        for role in _ROLES:
            found = model.index(row, 0).data(role)
            if isinstance(found, str):
                yield found
