"""One message of the transcript, in whatever state it is."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.conversation import StoredMessage
from app.markdown.parser import Parser
from app.ui.chat.answer_footer import AnswerFooter
from app.ui.chat.bubble import Bubble
from app.ui.chat.failure_card import FailureCard
from app.ui.chat.markdown_view import MarkdownView
from app.ui.chat.progress_line import ProgressLine
from app.ui.chat.reasoning import Reasoning
from app.ui.widgets.label import Label


class MessageView(QWidget):
    """Signals carry the message, so that one owner can serve all of them."""

    link = Signal(str)
    copied = Signal()
    copy = Signal(object)
    regenerate = Signal(object)
    go_on = Signal(object)

    def __init__(
        self, message: StoredMessage, parser: Parser, text_size: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.message = message
        self.setObjectName(f"message-{message.id}")
        self._parser = parser
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._parts: dict[str, QWidget] = {}
        if message.role == "user":
            bubble = Bubble(message.text, parser, text_size)
            self.view = bubble.view
            self._column.addWidget(bubble)
        else:
            self.view = MarkdownView(parser, text_size)
            self._column.addWidget(self.view)
            self.show_answer(message)
        self.view.link.connect(self.link)
        self.view.copied.connect(self.copied)

    def name(self, number: int, count: int) -> None:
        """Tell screen readers where in the chat this message stands."""
        who = self.tr("You") if self.message.role == "user" else self.tr("Assistant")
        self.view.setAccessibleName(self.tr("{0}, message {1} of {2}").format(who, number, count))

    def show_answer(self, answer: StoredMessage) -> None:
        """Show an answer in its present state; one that streams waits for `append`."""
        self.message = answer
        for part in list(self._parts):
            self._drop(part)
        if answer.reasoning:
            self.append_reasoning(answer.reasoning)
        if answer.facts and answer.facts.left_out:
            self.show_left_out(answer.facts.left_out)
        if answer.state == "streaming":
            self.view.begin(answer.text)
            self._put("progress", ProgressLine())
        else:
            self.view.show_markdown(answer.text)
        self.view.setVisible(bool(answer.text))
        self._show_ending(answer)

    def append(self, text: str) -> None:
        self._drop("progress")
        self.view.show()
        self.view.append(text)

    def append_reasoning(self, text: str) -> None:
        part = self._parts.get("reasoning")
        if isinstance(part, Reasoning):
            part.append(text)
        else:
            self._put("reasoning", Reasoning(text), above=True)

    def show_loading(self, share: float) -> None:
        part = self._parts.get("progress")
        if isinstance(part, ProgressLine):
            part.load(share)

    def show_prompt(self, left_out: int) -> None:
        """The model is loaded and reads the prompt."""
        part = self._parts.get("progress")
        if isinstance(part, ProgressLine):
            part.wait()
        if left_out:
            self.show_left_out(left_out)

    def show_left_out(self, count: int) -> None:
        if count == 1:
            words = self.tr("The oldest message no longer fits and was left out.")
        else:
            words = self.tr("The oldest {0} messages no longer fit and were left out.").format(
                count
            )
        self._drop("leftOut")
        self._put("leftOut", Label(words, "small", name="leftOut", wrap=True), above=True)

    def end(self, answer: StoredMessage) -> None:
        """The answer that was streaming has come to its end."""
        self.message = answer
        self._drop("progress")
        self.view.end()
        self.view.setVisible(bool(answer.text))
        self._show_ending(answer)

    def set_last(self, last: bool) -> None:
        """Whether this is the last message: only then something can be done with it."""
        self._drop("footer")
        answer = self.message
        ended = answer.role == "assistant" and answer.state != "streaming"
        # A failed answer without text has its own card with a button.
        if last and ended and (answer.text or answer.state != "failed"):
            footer = AnswerFooter()
            footer.show_for(answer)
            footer.copy.connect(lambda: self.copy.emit(self.message))
            footer.regenerate.connect(lambda: self.regenerate.emit(self.message))
            footer.go_on.connect(lambda: self.go_on.emit(self.message))
            self._put("footer", footer)

    def _show_ending(self, answer: StoredMessage) -> None:
        notes = {
            "interrupted": self.tr("This answer was interrupted."),
            "stopped": self.tr("You stopped this answer."),
        }
        if answer.state in notes:
            self._put("note", Label(notes[answer.state], "small", name="endNote"))
        elif answer.state == "complete" and answer.facts:
            if answer.facts.finish_reason == "length":
                words = self.tr("This answer reached its longest length.")
                self._put("note", Label(words, "small", name="endNote"))
        elif answer.state == "failed" and answer.failure:
            card = FailureCard(answer.failure)
            card.again.connect(lambda: self.regenerate.emit(self.message))
            self._put("failure", card)

    def _put(self, part: str, widget: QWidget, *, above: bool = False) -> None:
        self._parts[part] = widget
        self._column.insertWidget(0 if above else self._column.count(), widget)

    def _drop(self, part: str) -> None:
        widget = self._parts.pop(part, None)
        if widget is not None:
            widget.hide()
            widget.deleteLater()
