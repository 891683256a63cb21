"""A picture at the start of a field for a line of text, as large as the text around it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QLineEdit

from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.widgets.picture import Picture

_SIZE = 16


class LeadingPicture(Picture):
    """A picture in a field, before its text.

    It grows with the zoom, which the icon of an action of Qt's does not.

    Args:
        drawing: The picture.
        field: The field.
    """

    def __init__(self, drawing: str, field: QLineEdit) -> None:
        super().__init__(drawing, "muted", _SIZE, field)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        field.installEventFilter(self)
        self._place(field)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the place when the field changes its size."""
        if event.type() is QEvent.Type.Resize and isinstance(watched, QLineEdit):
            self._place(watched)
        return False

    def _place(self, field: QLineEdit) -> None:
        size = scaled(_SIZE)
        field.setTextMargins(size + scaled(GRID), 0, 0, 0)
        self.move(scaled(GRID), (field.height() - size) // 2)
