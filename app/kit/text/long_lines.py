"""Very long lines, which are never laid out as a whole, and a text editor for them.

Qt's cost for a line without spaces grows with the square of its length: with 400,000 characters,
each key in an editor takes two seconds. So a document holds such a line in pieces, each on a line
of its own that ends with an invisible mark. Text that is read or copied has no marks.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from app.kit.widgets.composing import ComposedText

LONGEST_LINE: Final = 2_000
"""The most characters that are laid out as one line."""

_CUT: Final = "\N{INVISIBLE SEPARATOR}\N{INVISIBLE PLUS}\N{INVISIBLE SEPARATOR}"
"""Ends a piece of a line. These characters have no width, and no text has them in this order."""
BREAK: Final = f"{_CUT}\n"
"""The text between two pieces of a line."""


def cut(text: str, column: int = 0) -> str:
    """Return a text whose very long lines are cut into pieces; see `joined`.

    Args:
        text: The text.
        column: How many characters are already on its first line.
    """
    if len(text) + column <= LONGEST_LINE:
        return text
    first, *others = text.split("\n")
    return "\n".join([_cut_line(first, column), *map(_cut_line, others)])


def joined(text: str) -> str:
    """Return a text with the pieces of its lines joined again."""
    return text.replace(BREAK, "").replace(_CUT, "")


def _cut_line(line: str, column: int = 0) -> str:
    first = max(0, LONGEST_LINE - column)
    starts = range(first, len(line), LONGEST_LINE)
    return BREAK.join([line[:first], *(line[start : start + LONGEST_LINE] for start in starts)])


class LongLineEdit(ComposedText):
    """A text editor for lines of any length."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if text:
            self.setPlainText(text)

    @property
    def whole_text(self) -> str:
        """The text as it was written, with the word that is being composed."""
        return joined(super().whole_text)

    def toPlainText(self) -> str:
        """Return the text as it was written."""
        return joined(super().toPlainText())

    def setPlainText(self, text: str) -> None:
        """Replace the text."""
        super().setPlainText(cut(text))

    def insertPlainText(self, text: str) -> None:
        """Insert a text at the cursor, in place of the selection."""
        cursor = self.textCursor()
        self.insert_at(cursor, text)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def insert_at(self, cursor: QTextCursor, text: str) -> None:
        """Insert a text at a cursor, in place of its selection."""
        cursor.beginEditBlock()
        cursor.insertText(cut(text))
        if cursor.block().length() > 2 * LONGEST_LINE:
            _cut_again(cursor)
        cursor.endEditBlock()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert pasted or dropped text."""
        if source.hasText() and len(source.text()) > LONGEST_LINE:
            self.insertPlainText(source.text())
        else:
            super().insertFromMimeData(source)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selected text as it was written."""
        data = super().createMimeDataFromSelection()
        if _CUT in data.text():
            data = QMimeData()
            data.setText(joined(self.textCursor().selection().toPlainText()))
        return data


def _cut_again(cursor: QTextCursor) -> None:
    """Cut the line of a cursor, which has grown, and leave the cursor where it was."""
    before = QTextCursor(cursor)
    before.movePosition(QTextCursor.MoveOperation.StartOfBlock, QTextCursor.MoveMode.KeepAnchor)
    left = joined(before.selectedText())
    after = QTextCursor(cursor)
    after.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
    marked = after.selectedText().endswith(_CUT)
    right = joined(after.selectedText())
    after.insertText(f"{cut(right)}{_CUT if marked else ''}")
    before.insertText(cut(left))
    cursor.setPosition(before.position())
