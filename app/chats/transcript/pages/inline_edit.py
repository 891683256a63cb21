"""The editor of a message, in place of its text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.chats.composer.pages.message_edit import MessageEdit
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel


class InlineEdit(Panel):
    """The editor of a message.

    Args:
        old_text: The old text.
        text: The text to start with.
        note: A sentence on the old text, such as where it stays.
        sends: Whether the new text is sent as a question, or only saved.

    Signals:
        done(text): The user wants to use the new text.
        cancelled(text): The user discarded the new text.
        changed(text): The text has changed.
    """

    done = Signal(str)
    cancelled = Signal(str)
    changed = Signal(str)

    def __init__(
        self, old_text: str, text: str, note: str, *, sends: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__("composer", "inlineEdit", margins=(2, 1.5, 1, 1), parent=parent)
        self._old_text = old_text
        self.edit = MessageEdit()
        self.edit.setObjectName("inlineEditText")
        self.edit.setAccessibleName(self.tr("Edit the message"))
        self.edit.setPlainText(text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self.edit.installEventFilter(self)
        self.edit.send.connect(self._finish)
        self.edit.textChanged.connect(self._changed)
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setObjectName("inlineEditCancel")
        cancel.clicked.connect(self._cancel)
        self._done = QPushButton(self.tr("Send") if sends else self.tr("Save"))
        self._done.setObjectName("inlineEditDone")
        self._done.setProperty("look", "primary")
        self._done.clicked.connect(self._finish)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(Label(note, "small", name="inlineEditNote", wrap=True), 1)
        buttons.addWidget(cancel)
        buttons.addWidget(self._done)
        self.box.addWidget(self.edit)
        self.box.addLayout(buttons)
        self._changed()

    @property
    def text(self) -> str:
        """The text in the editor."""
        return self.edit.toPlainText()

    def set_send_with(self, keys: str) -> None:
        """Set the keys that send, a value of the setting `send_with`."""
        self.edit.set_send_with(keys)

    def focus(self) -> None:
        """Focus the text."""
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the focus in the frame, and cancel the editing on Escape."""
        if event.type() in {QEvent.Type.FocusIn, QEvent.Type.FocusOut}:
            self.setProperty("focused", event.type() is QEvent.Type.FocusIn)
            self.style().unpolish(self)
            self.style().polish(self)
        elif isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            # Escape cancels the editing; without this, the window's shortcut would stop an answer.
            if event.type() is QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() is QEvent.Type.KeyPress:
                self._cancel()
                return True
        return super().eventFilter(watched, event)

    def _changed(self) -> None:
        text = self.edit.whole_text.strip()
        self._done.setEnabled(bool(text) and text != self._old_text.strip())
        self.changed.emit(self.text)

    def _finish(self) -> None:
        self.edit.commit()
        if self._done.isEnabled():
            self.setEnabled(False)
            self.done.emit(self.text.strip())

    def _cancel(self) -> None:
        self.cancelled.emit(self.text)
