"""A question and its answer in the quick-ask window."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.base.language import translated
from app.chats.history.values.conversation import StoredMessage
from app.chats.transcript.pages.bubble import Bubble
from app.kit.look.theme import GRID
from app.kit.text.markdown_view import MarkdownView
from app.kit.widgets.label import Label
from app.markdown.parser import Parser


class Exchange(QWidget):
    """A question and its answer.

    Signals:
        link(address): The user clicked a link in the answer.
        grown(): The answer became longer.
    """

    link = Signal(str)
    grown = Signal()

    def __init__(self, question: str, text_size: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        parser = Parser()
        self._began = False
        self._state = Label(self.tr("One moment…"), "muted", name="quickState", wrap=True)
        self._view = MarkdownView(parser, text_size)
        self._view.setObjectName("quickAnswer")
        self._view.setAccessibleName(self.tr("Answer"))
        self._view.link.connect(self.link)
        self._view.drawn.connect(self.grown)
        self._view.hide()
        bubble = Bubble(question, parser, text_size)
        bubble.view.setAccessibleName(self.tr("Question"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(bubble)
        column.addWidget(self._view)
        column.addWidget(self._state)

    def say(self, text: str) -> None:
        """Show the state until the answer begins."""
        self._state.setText(text)

    def append(self, text: str) -> None:
        """Append text to the answer."""
        if not self._began:
            self._began = True
            self._state.hide()
            self._view.show()
            self._view.begin()
        self._view.append(text)

    def end(self, answer: StoredMessage) -> None:
        """Show the answer as it was saved, and why it ended early if it did."""
        if self._began:
            self._view.end()
        if answer.failure is not None:
            failure = answer.failure
            self._state.setProperty("look", "problem")
            self._state.style().unpolish(self._state)
            self._state.style().polish(self._state)
            self._state.setText(f"{translated(failure.what)} {translated(failure.do)}")
        elif answer.repeats:
            self._state.setText(self.tr("This answer repeated itself and was ended."))
        elif answer.state == "stopped":
            self._state.setText(self.tr("Stopped."))
        self._state.setVisible(answer.failure is not None or answer.state == "stopped")
        self.grown.emit()
