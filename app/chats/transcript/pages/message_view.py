"""One message of the transcript, in any state."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal, SignalInstance
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.base.language import in_full, translated
from app.chats.history.values.conversation import Failure, StoredMessage
from app.chats.transcript.pages.bubble import Bubble
from app.chats.transcript.pages.fixes import button_of
from app.chats.transcript.pages.message_footer import MessageFooter
from app.chats.transcript.pages.progress_line import ProgressLine
from app.chats.transcript.pages.reasoning import Reasoning
from app.chats.transcript.pages.wait_words import reading_words
from app.kit.look.format import figure
from app.kit.text.markdown_view import MarkdownView
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.markdown.parser import Parser
from engines.errors import NotEnoughMemory
from engines.types import PromptProgress

_AT_FIRST = 200_000
"""The most characters of an answer that are laid out at first, and that each click adds."""


class FailureCard(Panel):
    """The card of a failed answer's error.

    Signals:
        again(): The user wants to try again.
        another(): The user wants another model to answer, as this one needs too much memory.
        fix(): The user wants the error to be fixed, and then to try again.
    """

    again = Signal()
    another = Signal()
    fix = Signal()

    def __init__(self, failure: Failure, parent: QWidget | None = None) -> None:
        super().__init__("danger", "failureCard", across=True, spacing=1.5, parent=parent)
        self.setAccessibleName(in_full(failure))
        self.box.addWidget(Picture("warning", "danger"), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        texts.addWidget(
            Label(
                translated(failure.what), "strong", name="failureWhat", wrap=True, selectable=True
            )
        )
        texts.addWidget(
            Label(translated(failure.why), name="failureWhy", wrap=True, selectable=True)
        )
        texts.addWidget(Label(translated(failure.do), name="failureDo", wrap=True, selectable=True))
        texts.addWidget(self._buttons(failure))
        self.box.addLayout(texts, 1)

    def _buttons(self, failure: Failure) -> FlowRow:
        buttons = []
        if failure.code == NotEnoughMemory.code:
            words = self.tr("Choose another")
            buttons.append(self._button("box", words, "chooseAnother", self.another))
        fix = button_of(failure)
        if fix is not None:
            buttons.append(self._button(*fix, "fixFailure", self.fix))
        buttons.append(self._button("again", self.tr("Try again"), "tryAgain", self.again))
        row = FlowRow(*buttons)
        row.setContentsMargins(0, 6, 0, 0)
        return row

    def _button(
        self, drawing: str, words: str, name: str, pressed: SignalInstance
    ) -> LabelledButton:
        button = LabelledButton(drawing, words, name)
        button.clicked.connect(lambda: pressed.emit())  # noqa: PLW0108 - clicked has an argument
        return button


class MessageView(QWidget):
    """One message of the transcript.

    `act` and `go` carry the message, so that one object can serve all messages.

    Args:
        message: The message.
        parser: Parses its markdown.
        text_size: The size of the text in pixels.
        wrap: Whether long lines of code are broken.

    Signals:
        link(address): The user clicked a link.
        wanted(view): The text needs pictures, as in `MarkdownView`.
        copied(): The user copied code or the reasoning.
        save(code): The user wants to save a code block as a file.
        act(name, message): The user wants an action; the names are those of `message_menu`.
        go(step, message): The user wants the previous (-1) or the next (1) branch.
        entered(): The pointer has moved onto the message.
    """

    link = Signal(str)
    wanted = Signal(object)
    copied = Signal()
    save = Signal(object)
    act = Signal(str, object)
    go = Signal(int, object)
    entered = Signal()

    def __init__(
        self,
        message: StoredMessage,
        parser: Parser,
        text_size: int,
        parent: QWidget | None = None,
        *,
        wrap: bool = True,
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
            self._text: QWidget = bubble
            self._column.addWidget(bubble)
            bubble.setVisible(bool(message.text))
        else:
            self.view = MarkdownView(parser, text_size, wrap=wrap, saves=True)
            self.view.save.connect(self.save)
            self._text = self.view
            self._column.addWidget(self.view)
        self.footer = MessageFooter(message, self.view)
        self.footer.act.connect(lambda name: self.act.emit(name, self.message))
        self.footer.go.connect(lambda step: self.go.emit(step, self.message))
        self._column.addWidget(self.footer)
        if message.role == "assistant":
            self.show_answer(message)
        self.view.link.connect(self.link)
        self.view.wanted.connect(self.wanted)
        self.view.copied.connect(self.copied)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(lambda: self.act.emit("menu", self.message))

    def name(self, number: int, count: int) -> None:
        """Set the accessible name, which tells the message's place in the chat.

        Args:
            number: The place, starting at 1.
            count: The number of messages in the chat.
        """
        sender = self.tr("You") if self.message.role == "user" else self.tr("Assistant")
        self.view.setAccessibleName(
            self.tr("{sender}, message {number} of {count}").format(
                sender=sender, number=number, count=count
            )
        )

    def show_answer(self, answer: StoredMessage) -> None:
        """Show an answer in its current state; the text of a running one comes through `append`."""
        self.message = answer
        self.footer.show_message(answer)
        for part in list(self._parts):
            self._drop(part)
        if answer.reasoning:
            self._put_reasoning(answer)
        if answer.facts and answer.facts.left_out:
            self.show_left_out(answer.facts.left_out)
        if answer.state == "streaming":
            self.view.begin(answer.text)
            line = ProgressLine()
            line.stop.connect(lambda: self.act.emit("stop", self.message))
            self._put("progress", line)
        else:
            self._show_part_of(answer.text, _AT_FIRST)
        self.view.setVisible(bool(answer.text))
        self._show_ending(answer)

    @property
    def is_whole(self) -> bool:
        """True if the complete text is shown, not only its beginning."""
        return "rest" not in self._parts

    def _show_part_of(self, text: str, most: int) -> None:
        """Show the beginning of a very long answer, with a button that shows more of it."""
        end = min(len(text), most)
        if end < len(text):
            end = text.rfind("\n\n", most // 2, most) + 1 or most
        self.view.show_markdown(text[:end])
        self._drop("rest")
        if end < len(text):
            words = self.tr("Show more: {count} characters are left")
            more = LabelledButton(
                "down", words.format(count=figure(len(text) - end)), "showRest", look="link"
            )
            more.clicked.connect(lambda: self._show_part_of(text, most + _AT_FIRST))
            self._put("rest", more)

    def append(self, text: str) -> None:
        """Append text to a running answer; this ends its reasoning."""
        self._drop("progress")
        self._end_reasoning()
        self.view.show()
        self.view.append(text)

    def append_reasoning(self, text: str) -> None:
        """Append text to the reasoning of a running answer."""
        self._drop("progress")
        self._put_reasoning(self.message).append(text)

    def show_loading(self, share: float, words: str = "") -> None:
        """Show the progress of loading the model.

        Args:
            share: The share that is done, 0 to 1.
            words: The current step of the engine, if known.
        """
        part = self._parts.get("progress")
        if isinstance(part, ProgressLine):
            part.load(share, words)

    def show_waiting(self, words: str) -> None:
        """Show why the answer waits; "" if the model is working on it."""
        part = self._parts.get("progress")
        if isinstance(part, ProgressLine):
            if words:
                part.show_text(words)
            else:
                part.wait()

    def show_server(self, server: str, since: float) -> None:
        """Show that the answer waits for a server.

        Args:
            server: The name of the server.
            since: When the waiting began, in seconds of the monotonic clock.
        """
        part = self._parts.get("progress")
        if isinstance(part, ProgressLine):
            part.wait_for(server, since)

    def show_reading(self, progress: PromptProgress) -> None:
        """Show how far the model has read the prompt."""
        part = self._parts.get("progress")
        if isinstance(part, ProgressLine):
            part.show_changing(reading_words(progress))

    def show_prompt(self, left_out: int) -> None:
        """Show that the model is loaded and reads the prompt.

        Args:
            left_out: The number of messages left out of the prompt.
        """
        part = self._parts.get("progress")
        if isinstance(part, ProgressLine):
            part.wait()
        if left_out:
            self.show_left_out(left_out)

    def show_left_out(self, count: int) -> None:
        """Show how many of the oldest messages were left out of the prompt."""
        if count == 1:
            words = self.tr("The oldest message no longer fits and was left out.")
        else:
            words = self.tr("The oldest {count} messages no longer fit and were left out.").format(
                count=count
            )
        self._drop("leftOut")
        self._put("leftOut", Label(words, "small", name="leftOut", wrap=True), above=True)

    def end(self, answer: StoredMessage) -> None:
        """End a running answer."""
        self.message = answer
        self.footer.show_message(answer)
        self._drop("progress")
        self._end_reasoning(answer.reasoning_s)
        self.view.end()
        self.view.setVisible(bool(answer.text))
        self._show_ending(answer)

    def set_last(self, last: bool) -> None:
        """Set whether this is the last message, whose actions are always visible."""
        self.footer.set_last(last)

    def update_message(self, message: StoredMessage) -> None:
        """Show the message again after it ended, was saved, rated or pinned."""
        old_state = self.message.state
        if old_state == "streaming":
            self.end(message)
            return
        self.message = message
        self.footer.show_message(message)
        if message.state != old_state:
            self._drop("failure")
            self._show_ending(message)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show the actions of the message."""
        super().enterEvent(event)
        self.footer.set_active(True)
        self.entered.emit()

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the actions, unless the message has the focus."""
        super().leaveEvent(event)
        self.footer.set_active(self.isAncestorOf(QApplication.focusWidget() or self))

    def unfold(self) -> None:
        """Show the whole message if only its beginning is shown."""
        if isinstance(self._text, Bubble):
            self._text.unfold()

    @property
    def is_edited(self) -> bool:
        """True if the user is editing this message."""
        return "editor" in self._parts

    def put_editor(self, editor: QWidget | None) -> None:
        """Show an editor in place of the text; None shows the text again."""
        self._drop("editor")
        if editor is not None:
            self._put("editor", editor)
        self._text.setVisible(editor is None and bool(self.message.text))

    def _put_reasoning(self, answer: StoredMessage) -> Reasoning:
        part = self._parts.get("reasoning")
        if not isinstance(part, Reasoning):
            part = Reasoning(answer.reasoning, answer.reasoning_s)
            part.copied.connect(self.copied)
            self._put("reasoning", part, above=True)
        return part

    def _end_reasoning(self, seconds: float | None = None) -> None:
        part = self._parts.get("reasoning")
        if isinstance(part, Reasoning):
            part.end(seconds)

    def _show_ending(self, answer: StoredMessage) -> None:
        notes = {
            "interrupted": self.tr("This answer was interrupted."),
            "stopped": self.tr("You stopped this answer."),
        }
        if answer.repeats:
            words = self.tr("This answer repeated itself and was ended.")
            self._put("note", Label(words, "small", name="endNote"))
        elif answer.state in notes:
            self._put("note", Label(notes[answer.state], "small", name="endNote"))
        elif answer.state == "complete" and answer.facts:
            if answer.facts.finish_reason == "length":
                words = self.tr("This answer reached its length limit.")
                self._put("note", Label(words, "small", name="endNote"))
        elif answer.state == "failed" and answer.failure:
            card = FailureCard(answer.failure)
            card.again.connect(lambda: self.act.emit("regenerate", self.message))
            card.another.connect(lambda: self.act.emit("another_model", self.message))
            card.fix.connect(lambda: self.act.emit("fix", self.message))
            self._put("failure", card)

    def show_part(self, part: str, widget: QWidget | None, *, above: bool = False) -> None:
        """Insert or replace a named widget; None removes it.

        Args:
            part: The name.
            widget: The widget.
            above: Whether to insert it above the text.
        """
        self._drop(part)
        if widget is not None:
            self._put(part, widget, above=above)

    def part(self, name: str) -> QWidget | None:
        """Return the widget with this name, or None."""
        return self._parts.get(name)

    def _put(self, part: str, widget: QWidget, *, above: bool = False) -> None:
        self._parts[part] = widget
        below = self._column.indexOf(self.footer)
        self._column.insertWidget(0 if above else below, widget)

    def _drop(self, part: str) -> None:
        widget = self._parts.pop(part, None)
        if widget is not None:
            widget.hide()
            widget.deleteLater()
