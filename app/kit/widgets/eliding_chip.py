"""A chip whose text ends in “…” if it is too long for its room."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

from app.kit.look.scale import scaled
from app.kit.widgets.chip import Chip

_LEAST = 88
_BESIDE = 25
"""Pixels beside the text and the icon: edges, padding, and the gap between the two."""


class ElidingChip(Chip):
    """A chip that elides its text; the tooltip and the accessible name have the whole text."""

    def __init__(
        self, text: str, name: str, *, checked: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, name, checked=checked, parent=parent)
        self.setToolTip(text)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Return a width at which the beginning of the text stays readable."""
        whole = self.sizeHint()
        return QSize(min(whole.width(), scaled(_LEAST)), whole.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the chip with its text cut to the available width."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        room = self.width() - self.iconSize().width() - scaled(_BESIDE)
        words = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        option.text = words
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        painter.end()
