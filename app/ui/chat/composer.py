"""Where messages are written and sent, and answers stopped."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.ui.chat.message_edit import MessageEdit
from app.ui.theme import BAR, COLUMN, GRID
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.panel import Panel


class Composer(QWidget):
    """send(text): a message is to be sent. stop(): the answer is to end.

    options: a row for switches that belong to the next message, left of the button.
    """

    send = Signal(str)
    stop = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answering = False
        self.edit = MessageEdit()
        self.edit.send.connect(self._send)
        self.edit.textChanged.connect(self._show_button)
        self.edit.installEventFilter(self)
        self._button = IconButton("send", "", "send", look="send", tone="on_accent", size=20)
        self._button.clicked.connect(self._press)
        self._hint = Label("", "small", name="composerHint")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.options = QHBoxLayout()
        self._panel = Panel("composer", "composer", margins=(2, 1.5, 1, 1), spacing=0.5)
        below = QHBoxLayout()
        below.setSpacing(GRID)
        below.addLayout(self.options, 1)
        below.addWidget(self._button, 0, Qt.AlignmentFlag.AlignBottom)
        self._panel.box.addWidget(self.edit)
        self._panel.box.addLayout(below)
        across = QHBoxLayout(self)
        across.setContentsMargins(3 * GRID + BAR, 0, 3 * GRID + BAR, GRID)
        across.addStretch(1)
        middle = QWidget()
        middle.setMaximumWidth(COLUMN)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._panel)
        column.addWidget(self._hint)
        across.addWidget(middle, 1000)
        across.addStretch(1)
        self._show_button()

    @property
    def text(self) -> str:
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Show a draft, with the cursor at its end."""
        self.edit.setPlainText(text)
        cursor = self.edit.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.edit.setTextCursor(cursor)

    def set_answering(self, answering: bool) -> None:
        """While an answer is written the button stops it, and Enter does not send."""
        self._answering = answering
        self._show_button()

    def set_send_with(self, keys: str) -> None:
        self.edit.set_send_with(keys)
        if keys == "enter":
            self._hint.setText(self.tr("Enter sends, Shift+Enter makes a new line"))
        else:
            self._hint.setText(self.tr("Ctrl+Enter sends, Enter makes a new line"))

    def set_assistant(self, name: str) -> None:
        self.edit.setPlaceholderText(self.tr("Message {0}").format(name))

    def focus(self) -> None:
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.FocusIn, QEvent.Type.FocusOut}:
            self._panel.setProperty("focused", event.type() is QEvent.Type.FocusIn)
            self._panel.style().unpolish(self._panel)
            self._panel.style().polish(self._panel)
        return super().eventFilter(watched, event)

    def _press(self) -> None:
        if self._answering:
            self.stop.emit()
        else:
            self._send()

    def _send(self) -> None:
        text = self.text.strip()
        if text and not self._answering:
            self.edit.clear()
            self.send.emit(text)

    def _show_button(self) -> None:
        self._button.redraw("stop" if self._answering else "send", "on_accent")
        self._button.rename(self.tr("Stop") if self._answering else self.tr("Send"))
        self._button.setEnabled(self._answering or bool(self.text.strip()))
