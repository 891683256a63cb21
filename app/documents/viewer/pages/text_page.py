"""A part of a text to read, with marked places."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from app.kit.look.direction import align
from app.kit.look.fonts import text_font
from app.kit.look.theme import BASE, theme_of

_LEAST, _MOST = 8, 60
"""Minimum and maximum font size, in pixels."""


class TextPage(QPlainTextEdit):
    """A read-only text; the keyboard can move the cursor and select."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("textPage")
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self._places: list[tuple[int, int]] = []

    def show_text(self, text: str, places: Sequence[tuple[int, int]]) -> None:
        """Show a text with marked parts, scrolled to the first of them."""
        self.setPlainText(text)
        align(self)
        self._places = [(_in_qt(text, start), _in_qt(text, end)) for start, end in places]
        self._mark()
        cursor = QTextCursor(self.document())
        if self._places:
            cursor.setPosition(self._places[0][0])
        self.setTextCursor(cursor)
        self.centerCursor()

    def set_scale(self, scale: float) -> None:
        """Set the size of the text; 1.0 is the usual size."""
        font = text_font(round(min(_MOST, max(_LEAST, (BASE + 2) * scale))))
        self.document().setDefaultFont(font)
        self._mark()

    def _mark(self) -> None:
        theme = theme_of(self.palette())
        char_format = QTextCharFormat()
        char_format.setBackground(QColor(theme.accent))
        char_format.setForeground(QColor(theme.on_accent))
        selections = []
        for start, end in self._places:
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            selection.cursor = cursor
            selection.format = char_format
            selections.append(selection)
        self.setExtraSelections(selections)


def _in_qt(text: str, place: int) -> int:
    """Convert a position to Qt's, which counts two for characters such as most emoji."""
    return len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
