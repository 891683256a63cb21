"""The quick-ask window, a small window for a question from anywhere; it makes an ordinary chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.base.language import translated
from app.chats.answers.values.answers import AnswerOptions
from app.chats.composer.pages.message_edit import MessageEdit
from app.chats.history.values.conversation import StoredMessage
from app.chats.transcript.pages.bubble import Bubble
from app.chats.transcript.pages.wait_words import reading_words, wait_words
from app.kit.look.icons import app_icon
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.text.markdown_view import MarkdownView
from app.kit.widgets.column_page import ColumnPage
from app.kit.widgets.enter import press_focused
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.markdown.parser import Parser
from engines.errors import UserError

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.pages.engine_badge import EngineBadge
    from app.runtime.values.wait import Wait
    from app.servers.presenters import Destination
    from engines.types import PromptProgress

_WIDTH, _HIGH = 560, 460


class QuickAsk(QWidget):
    """The quick-ask window.

    Further questions belong to the same chat until the window is closed.

    Signals:
        began(): The first question was saved, and its chat has an id.
        open_chat(chat_id): The user wants to continue the chat in the main window.
        link(address): The user clicked a link.
    """

    began = Signal()
    open_chat = Signal(str)
    link = Signal(str)

    def __init__(self, generation: Generation, text_size: int, send_with: str) -> None:
        """Create the window; call `show_model` before it is shown.

        Args:
            text_size: In pixels.
        """
        super().__init__(None, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        # Hearth continues in the tray if this is the last open window.
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.setObjectName("quickAsk")
        self.setWindowTitle(self.tr("Ask Hearth"))
        self.setWindowIcon(app_icon())
        self._generation = generation
        self._text_size = text_size
        self._asking = False
        self._chat_id: str | None = None
        self._answer_id: str | None = None
        self._turn: TurnView | None = None
        self._page = ColumnPage("quickPage", spacing=2 * GRID)
        self._page.column.addStretch(1)
        self._page.hide()
        self.edit = MessageEdit()
        self.edit.set_send_with(send_with)
        self.edit.send.connect(self._press)
        self.edit.textChanged.connect(self._show_button)
        self._button = IconButton("send", "", "quickSend", look="send", tone="on_accent")
        self._button.clicked.connect(self._press)
        self._badge: EngineBadge | None = None
        self._problem = Label("", "problem", name="quickProblem", wrap=True)
        self._problem.hide()
        self._verdict = Label("", "caution", name="quickVerdict", wrap=True)
        self._verdict.hide()
        self._lay_out()
        self._connect(generation)
        self.resize(_WIDTH, self.sizeHint().height())
        self._show_button()
        self.edit.setFocus()

    @property
    def chat_id(self) -> str | None:
        """The id of the chat that the questions belong to; None before the first one is saved."""
        return self._chat_id

    def show_model(self, name: str, place: Destination | None, *, too_big: bool = False) -> None:
        """Show which model answers the next question.

        Args:
            name: Its name.
            place: Where the question is sent; None if Hearth itself answers.
            too_big: Whether it does not fit into this computer's memory.
        """
        words = self.tr("{name} is too big for this computer").format(name=name)
        self._verdict.show_text(words if too_big else "")
        self.edit.setPlaceholderText(self.tr("Ask {model}").format(model=name))
        self.edit.viewport().update()  # Qt does not repaint a new placeholder at once
        if self._badge is None and place is not None:
            from app.chats.pages.engine_badge import EngineBadge

            self._badge = EngineBadge("quickBadge", self)
            self._column.insertWidget(self._column.indexOf(self._problem), self._badge)
        if self._badge is not None:
            self._badge.show_place(place)
        if self._badge is not None or too_big:
            needed = self._column.totalHeightForWidth(self.width())
            self.resize(self.width(), max(self.height(), needed))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close the window on Escape; press the focused button on Enter."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif not press_focused(self, event):
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        panel = Panel("composer", "quickComposer", across=True, margins=(2, 1.25, 1, 1))
        panel.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        panel.box.addWidget(self.edit, 1)
        panel.box.addWidget(self._button, 0, Qt.AlignmentFlag.AlignBottom)
        self._open_button = LabelledButton(
            "chat", self.tr("Open in Hearth"), "quickOpen", look="quiet"
        )
        self._open_button.clicked.connect(self._open)
        self._open_button.setEnabled(False)
        below = QHBoxLayout()
        below.setSpacing(GRID)
        below.addWidget(Picture("flame", "accent_text", 18))
        below.addWidget(Label(self.tr("Enter asks, Esc closes"), "small"), 1)
        below.addWidget(self._open_button)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(self._page, 1)
        column.addWidget(self._problem)
        column.addWidget(self._verdict)
        column.addWidget(panel)
        column.addLayout(below)

    def _connect(self, generation: Generation) -> None:
        generation.begun.connect(self._begun)
        generation.waits.connect(self._waits)
        generation.loading.connect(self._loading)
        generation.reading.connect(self._reading)
        generation.text.connect(self._text)
        generation.ended.connect(self._ended)

    def _press(self) -> None:
        if self._answer_id is not None:
            self._generation.stop_answer(self._answer_id)
            return
        self.edit.commit()
        text = self.edit.toPlainText().strip()
        if not text or self._asking:
            return
        self.edit.clear()
        self._problem.hide()
        self._asking = True
        self._generation.ask(
            self._chat_id,
            text,
            AnswerOptions(),
            self._asked,
            lambda error: self._refused(text, error),
        )

    def _asked(self, question: StoredMessage) -> None:
        if self._chat_id is None:
            self._chat_id = question.chat_id
            self._open_button.setEnabled(True)
            self.began.emit()
        self._turn = TurnView(question.text, self._text_size)
        self._turn.link.connect(self.link)
        self._turn.grown.connect(self._show_end)
        self._page.column.insertWidget(self._page.column.count() - 1, self._turn)
        if self._page.isHidden():
            self._page.show()
            self.resize(self.width(), scaled(_HIGH))

    def _begun(self, answer: StoredMessage) -> None:
        if self._asking and answer.chat_id == self._chat_id:
            self._asking = False
            self._answer_id = answer.id
            self._show_button()

    def _waits(self, answer_id: str, wait: Wait | None) -> None:
        if self._turn is not None and answer_id == self._answer_id:
            self._turn.show_state(wait_words(wait) if wait else self.tr("One moment…"))

    def _loading(self, answer_id: str, _share: float) -> None:
        if self._turn is not None and answer_id == self._answer_id:
            self._turn.show_state(self.tr("Loading the model…"))

    def _reading(self, answer_id: str, progress: PromptProgress) -> None:
        if self._turn is not None and answer_id == self._answer_id:
            self._turn.show_state(f"{reading_words(progress)}…")

    def _text(self, answer_id: str, text: str) -> None:
        if self._turn is not None and answer_id == self._answer_id:
            self._turn.append(text)

    def _ended(self, answer: StoredMessage) -> None:
        if self._turn is not None and answer.id == self._answer_id:
            self._turn.end(answer)
            self._answer_id = None
            self._show_button()

    def _refused(self, text: str, error: Exception) -> None:
        """Put a question that could not be saved back into the field."""
        self._asking = False
        self.edit.setPlainText(text)
        problem = str(error)
        if isinstance(error, UserError):
            problem = f"{translated(error.what)} {translated(error.do)}"
        self._problem.setText(problem)
        self._problem.show()

    def _show_end(self) -> None:
        bar = self._page.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _show_button(self) -> None:
        stops, text = self._answer_id is not None, self.edit.whole_text
        self._button.redraw("stop" if stops else "send", "on_accent")
        self._button.rename(self.tr("Stop") if stops else self.tr("Ask"))
        self._button.setEnabled(stops or bool(text.strip()))

    def _open(self) -> None:
        if self._chat_id is not None:
            self.open_chat.emit(self._chat_id)
            self.close()


class TurnView(QWidget):
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
        self._has_begun = False
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

    def show_state(self, text: str) -> None:
        """Show the state until the answer begins."""
        self._state.setText(text)

    def append(self, text: str) -> None:
        """Append text to the answer."""
        if not self._has_begun:
            self._has_begun = True
            self._state.hide()
            self._view.show()
            self._view.begin()
        self._view.append(text)

    def end(self, answer: StoredMessage) -> None:
        """Show the answer as it was saved, and why it ended early if it did."""
        if self._has_begun:
            self._view.end()
        if answer.failure is not None:
            failure = answer.failure
            words = f"{translated(failure.what)} {translated(failure.do)}"
            self._state.show_text(words, "problem")
        elif answer.repeats:
            self._state.setText(self.tr("This answer repeated itself and was ended."))
        elif answer.state == "stopped":
            self._state.setText(self.tr("Stopped."))
        self._state.setVisible(answer.failure is not None or answer.state == "stopped")
        self.grown.emit()
