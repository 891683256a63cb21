"""Rules for users of a screen reader or of the keyboard alone: names, roles, states and focus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QButtonGroup,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTextBrowser,
    QTextEdit,
    QWidget,
)

from app.base.language import translation_of
from app.kit.widgets.switch import Switch
from tests.e2e.looks.house import settle
from tests.e2e.looks.rules import Shown, name_of

_Role, _Text = QAccessible.Role, QAccessible.Text
ROLES: Final = (
    (QAbstractButton, {_Role.Button, _Role.ButtonMenu, _Role.CheckBox, _Role.RadioButton}),
    (QComboBox, {_Role.ComboBox}),
    (QAbstractSpinBox, {_Role.SpinBox}),
    (QAbstractItemView, {_Role.List, _Role.Table, _Role.Tree}),
    (QLineEdit, {_Role.EditableText}),
    ((QPlainTextEdit, QTextEdit), {_Role.EditableText, _Role.StaticText}),
    (QLabel, {_Role.StaticText}),
    (QWidget, {_Role.Border, _Role.Client}),  # such as a page of a document
)
"""The roles of each kind of control; the first kind that applies counts."""
FIELDS: Final = (QComboBox, QAbstractSpinBox, QLineEdit, QPlainTextEdit, Switch)
"""The kinds of controls that a label beside them names."""
MOST_STEPS: Final = 300
"""The most presses of Tab before a window counts as a trap."""


def unspoken(window: QWidget) -> Iterator[str]:
    """Yield controls of a window that a screen reader reads wrongly, also those scrolled away."""
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or widget.window() is not window or not _can_have_focus(widget):
            continue
        spoken = QAccessible.queryAccessibleInterface(widget)
        for fault in (*_misnamed(widget, spoken), *_misread(widget, spoken)):
            yield f"{name_of(widget)} {fault}"


def _misnamed(widget: QWidget, spoken: QAccessibleInterface) -> Iterator[str]:
    labels = [
        label.text(_Text.Name) for label, _ in spoken.relations(QAccessible.RelationFlag.Label)
    ]
    name = labels[0] if labels else spoken.text(_Text.Name)
    if isinstance(widget, QLabel):
        return  # its text is all that it says
    if not name:
        yield "has no name"
    elif name == spoken.text(_Text.Value):
        yield f"is named by its value “{name}”"
    if len(labels) > 1:
        yield f"has several labels: {labels}"
    if "&" in "".join(labels):
        yield "has a label with a letter for a key"
    if translation_of(name) is not None:
        yield f"is named “{name}” in English"
    around = widget.parentWidget()
    if not labels and isinstance(widget, FIELDS) and around is not None:
        for label in around.findChildren(QLabel):
            if label.isVisible() and label.text() and label.text() == widget.accessibleName():
                yield f"is not related to its label “{label.text()}”"


def _misread(widget: QWidget, spoken: QAccessibleInterface) -> Iterator[str]:
    roles = next(roles for kind, roles in ROLES if isinstance(widget, kind))
    if spoken.role() not in roles:
        yield f"is a {spoken.role().name}"
    state = spoken.state()
    if state.disabled == widget.isEnabled():
        yield "has a wrong state: disabled"
    if isinstance(widget, QAbstractButton):
        group: QButtonGroup | None = widget.group()
        is_one_of_several = group is not None and group.exclusive()
        if is_one_of_several and spoken.role() is not _Role.RadioButton:
            yield f"is one of several and not a radio button, but a {spoken.role().name}"
        if state.checkable != widget.isCheckable() or state.checked != widget.isChecked():
            yield "has a wrong state: checked"


def lost_focus(window: QWidget) -> Iterator[str]:
    """Press Tab until the focus is back, and yield controls that get it while they are not seen.

    It also yields controls that Tab never reaches.
    """
    if isinstance(window, QMenu):
        return
    window.activateWindow()
    settle(1)
    expected = {widget for widget in Shown.of(window).parts if _has_tab(widget)}
    reached: list[QWidget] = []
    for _ in range(MOST_STEPS):
        QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
        settle(1)
        now = QApplication.focusWidget()
        if now is None or now.window() is not window:
            return  # Tab has done something, such as accepting a suggestion
        is_next_link = isinstance(now, QTextBrowser) and reached and now is reached[-1]
        if reached and now is reached[0] and not is_next_link:
            break
        if now not in reached:
            yield from (f"{name_of(now)} {fault}" for fault in _unseen(now))
        reached.append(now)
    else:
        yield f"{name_of(window)} does not let Tab come back"
    for widget in expected.difference(reached):
        if widget.isVisible() and _has_tab(widget):
            yield f"{name_of(widget)} is not reached by Tab"


def _can_have_focus(widget: QWidget) -> bool:
    # The field inside of a number field is part of it.
    return (
        widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and widget.objectName() != "qt_spinbox_lineedit"
    )


def _has_tab(widget: QWidget) -> bool:
    has_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return _can_have_focus(widget) and has_tab and widget.isEnabled()


def _unseen(widget: QWidget) -> Iterator[str]:
    if widget.visibleRegion().isEmpty():
        yield "has the focus and is not in sight"
    elif isinstance(widget, QAbstractItemView) and widget.currentIndex().isValid():
        row = widget.visualRect(widget.currentIndex())
        if not row.intersects(widget.viewport().rect()):
            yield "has the focus on a row that is not in sight"
