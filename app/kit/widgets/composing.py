"""Fields for an input method, such as one for Japanese: a word that is being composed is kept.

An input method shows a word in the field before it belongs to the field's text. Whatever reads the
text for good, such as *Send* or Enter, calls `commit_composed` first.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFocusEvent, QGuiApplication, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit

from app.kit.widgets.enter import ENTER


def commit_composed() -> None:
    """Put the word that is being composed into the text of the field with the focus."""
    focused = QApplication.focusWidget()
    if isinstance(focused, ComposedLine | ComposedText):
        focused.commit()
    else:
        QGuiApplication.inputMethod().commit()


def _commit(field: ComposedLine | ComposedText) -> None:
    """Let the input method commit; where it leaves a word behind, commit that word here."""
    composed = field.composed
    if not composed:
        return
    QGuiApplication.inputMethod().commit()
    if field.composed:
        event = QInputMethodEvent()
        event.setCommitString(composed)
        QCoreApplication.sendEvent(field, event)


def _with_composed(text: str, composed: str, position: int) -> str:
    """Return a text with a composed word at a position, which Qt counts in UTF-16 units."""
    if not composed:
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    before, after = units[: 2 * position], units[2 * position :]
    return f"{before.decode('utf-16-le', 'surrogatepass')}{composed}" + after.decode(
        "utf-16-le", "surrogatepass"
    )


class ComposedLine(QLineEdit):
    """A line edit that commits the word being composed before Enter and before it loses the focus.

    Attributes:
        composed: The word that an input method is composing; "" for none.
    """

    composed = ""

    @property
    def whole_text(self) -> str:
        """The text with the word that is being composed."""
        return _with_composed(self.text(), self.composed, self.cursorPosition())

    def commit(self) -> None:
        """Put the word that is being composed into the text."""
        _commit(self)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Take note of the word; listeners to the text hear of it, as it counts for `Save`."""
        changed = event.preeditString() != self.composed
        self.composed = event.preeditString()
        super().inputMethodEvent(event)
        if changed and not event.commitString():
            self.textChanged.emit(self.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Commit the word before Enter acts on the text.

        Where Enter moves the focus to a button, the window does not press that as well.
        """
        had_focus = self.hasFocus()
        is_enter = event.key() in ENTER
        if is_enter:
            self.commit()
        super().keyPressEvent(event)
        if is_enter and had_focus and not self.hasFocus():
            event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Commit the word before the loss of the focus acts on the text."""
        self.commit()
        super().focusOutEvent(event)


class ComposedText(QPlainTextEdit):
    """A text edit that commits the word being composed before it loses the focus.

    Attributes:
        composed: The word that an input method is composing; "" for none.
    """

    composed = ""

    @property
    def whole_text(self) -> str:
        """The text with the word that is being composed."""
        text = self.document().toPlainText()
        return _with_composed(text, self.composed, self.textCursor().position())

    def commit(self) -> None:
        """Put the word that is being composed into the text."""
        _commit(self)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Take note of the word."""
        self.composed = event.preeditString()
        super().inputMethodEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Commit the word before the loss of the focus acts on the text."""
        self.commit()
        super().focusOutEvent(event)
