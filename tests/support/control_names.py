"""Find controls of a page that have no name."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextBrowser,
    QWidget,
)

from tests.support.window import Ui

CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextBrowser,
)


def is_within(widget: QWidget | None, kinds: tuple[type[QWidget], ...]) -> bool:
    """Return whether a widget is part of one of these kinds, such as the list of a combo box."""
    while widget is not None and not isinstance(widget, kinds):
        widget = widget.parentWidget()
    return widget is not None


def nameless(root: QWidget) -> list[QWidget]:
    """Return the controls that a screen reader or a test could not tell apart."""
    return [
        widget
        for widget in root.findChildren(QWidget)
        if isinstance(widget, CONTROLS)
        and not widget.objectName().startswith("qt_")
        and not is_within(widget.parentWidget(), (QAbstractSpinBox, QComboBox, QLineEdit))
        and not (widget.accessibleName() and (widget.objectName() or widget.parentWidget()))
    ]


def all_named(ui: Ui, root: QWidget) -> None:
    """Wait until every control has its name; the context meter gets its own with its number."""

    def look() -> None:
        assert nameless(root) == []

    ui.qtbot.waitUntil(look)
