"""Fields: those with values ignore the mouse wheel unless they have the focus.

Qt's fields react to the wheel under the pointer, so scrolling through a page would change values.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QSpinBox,
    QStyledItemDelegate,
    QWidget,
)

from app.kit.look.scale import scaled
from app.kit.text.long_lines import LongLineEdit
from app.kit.widgets.composing import ComposedLine
from app.kit.widgets.label import Label
from app.kit.widgets.rounded import round_corners

_BY_KEYS_AND_CLICKS = Qt.FocusPolicy.StrongFocus
"""A focus policy under which the wheel does not give the focus, as it does by Qt's default."""
LONGEST_WORDS = 4_000
"""The most characters of a line, such as a path: an accidental paste can be a whole book."""
_INSET = 6
"""Pixels before a number, as in a text field."""


class ComboBox(QComboBox):
    """A drop-down list that uses the wheel only with the focus.

    On Linux Qt tells screen readers its value as its name, and takes the name from a label beside
    it. A box without such a label gets a hidden one with its accessible name.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(_BY_KEYS_AND_CLICKS)
        self._is_dressed = False

    def showPopup(self) -> None:
        """Show the list in the look of a menu."""
        if not self._is_dressed:
            self._is_dressed = True
            self._dress()
        super().showPopup()

    def _dress(self) -> None:
        """Draw the rows by the style sheet, and give the list round corners.

        Qt's own rows for drop-down lists are drawn by the system's style alone.
        """
        self.setItemDelegate(QStyledItemDelegate(self))
        around = self.view().window()
        around.setProperty("look", "choices")
        round_corners(around)

    def showEvent(self, event: QShowEvent) -> None:
        """Make sure that there is a label."""
        super().showEvent(event)
        around = self.parentWidget()
        if around is None:
            return
        beside = around.findChildren(QLabel, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if all(label.buddy() is not self for label in beside):
            label = Label(self.accessibleName(), parent=around)
            label.hide()
            label.setBuddy(self)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the value only with the focus; otherwise let the page scroll."""
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
        """Change the value only with the focus; otherwise let the page scroll."""
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
        """Change the value only with the focus; otherwise let the page scroll."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class LineField(ComposedLine):
    """A field for a line of text.

    Args:
        name: The object name.
        title: The accessible name.
        text: The text at first.
        hint: The text that is shown while the field is empty.
        longest: The largest number of characters; what is pasted beyond it is left out.
        secret: Whether the text is hidden, as of a password.
        clears: Whether the field has a button that empties it.
    """

    def __init__(
        self,
        name: str,
        title: str,
        text: str = "",
        *,
        hint: str = "",
        longest: int = LONGEST_WORDS,
        secret: bool = False,
        clears: bool = False,
    ) -> None:
        super().__init__()
        self.setMaxLength(max(longest, len(text.encode("utf-16-le")) // 2))  # as Qt counts
        self.setText(text)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setPlaceholderText(hint)
        self.setClearButtonEnabled(clears)
        if secret:
            self.setEchoMode(QLineEdit.EchoMode.Password)

    @property
    def words(self) -> str:
        """The text without spaces around it, with a word that is being composed."""
        return self.whole_text.strip()

    @property
    def line(self) -> str:
        """The same with single spaces, as a name has them."""
        return " ".join(self.whole_text.split())


class TextField(LongLineEdit):
    """A field for several lines of text, which Tab leaves.

    Args:
        name: The object name.
        title: The accessible name.
        text: The text at first.
        height: The height in pixels.
        hint: The text that is shown while the field is empty.
    """

    def __init__(
        self, name: str, title: str, text: str = "", *, height: int, hint: str = ""
    ) -> None:
        super().__init__(text)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setPlaceholderText(hint)
        self.setTabChangesFocus(True)
        self.setFixedHeight(height)
