"""Fields that leave the wheel to the page unless they have the focus.

Qt's own take it wherever the pointer is: who scrolls through a page would change its values.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSpinBox, QWidget

from app.kit.look.scale import scaled

_BY_KEYS_AND_CLICKS = Qt.FocusPolicy.StrongFocus
"""The wheel gives no focus, which it does by Qt's default for these."""
_INSET = 6
"""Pixels before a number, as a field for text has them."""


class ComboBox(QComboBox):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(_BY_KEYS_AND_CLICKS)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class SpinBox(QSpinBox):
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
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(_BY_KEYS_AND_CLICKS)
        self.lineEdit().setTextMargins(scaled(_INSET), 0, scaled(_INSET), 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
