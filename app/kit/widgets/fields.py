"""Fields that ignore the mouse wheel unless they have the focus.

Qt's fields react to the wheel under the pointer, so scrolling through a page would change values.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSpinBox, QWidget

from app.kit.look.scale import scaled

_BY_KEYS_AND_CLICKS = Qt.FocusPolicy.StrongFocus
"""A focus policy under which the wheel does not give the focus, as it does by Qt's default."""
_INSET = 6
"""Pixels before a number, as in a text field."""


class ComboBox(QComboBox):
    """A combo box that uses the wheel only with the focus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(_BY_KEYS_AND_CLICKS)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class SpinBox(QSpinBox):
    """A field for a whole number that uses the wheel only with the focus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(_BY_KEYS_AND_CLICKS)
        self.lineEdit().setTextMargins(scaled(_INSET), 0, scaled(_INSET), 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class DoubleSpinBox(QDoubleSpinBox):
    """A field for a decimal number that uses the wheel only with the focus."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(_BY_KEYS_AND_CLICKS)
        self.lineEdit().setTextMargins(scaled(_INSET), 0, scaled(_INSET), 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
