"""The chat page: brings the services and the widgets of one chat together."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.core.conversation import StoredMessage
from app.core.errors import ChatNotFound
from app.core.settings import Settings
from app.markdown.parser import Parser
from app.services.answers import AnswerOptions
from app.services.chats import Chats
from app.services.generation import Generation
from app.ui.chat.chat_mtp import ChatMtp
from app.ui.chat.composer import Composer
from app.ui.chat.mtp_bar import MtpBar
from app.ui.chat.transcript import Transcript
from app.ui.notify import Notifier
from app.ui.onboarding.welcome import Welcome
from engines.errors import UserError
from engines.types import PromptReady


class ChatPage(QWidget):
    """shown(chat_id or None): another chat is shown. grown(): a chat has a new question."""

    shown = Signal(object)
    grown = Signal()

    def __init__(
        self,
        chats: Chats,
        generation: Generation,
        settings: Settings,
        notifier: Notifier,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._chats = chats
        self._generation = generation
        self._notifier = notifier
        self._chat_id: str | None = None
        self._asking: int | None = None
        self._drafts: dict[str | None, str] = {}
        self.welcome = Welcome()
        self.transcript = Transcript(Parser(), settings.text_size)
        self.composer = Composer()
        bar = MtpBar()
        self.composer.options.addWidget(bar)
        self.mtp = ChatMtp(bar, chats, generation, settings, self)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self.transcript)
        self.banners = QVBoxLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self.banners)
        column.addWidget(self._stack, 1)
        column.addWidget(self.composer)
        self._connect()
        self.apply(settings)

    @property
    def chat_id(self) -> str | None:
        return self._chat_id

    def apply(self, settings: Settings) -> None:
        self.transcript.set_text_size(settings.text_size)
        self.composer.set_send_with(settings.send_with)
        self.mtp.apply(settings)

    def open_chat(self, chat_id: str | None) -> None:
        """Show a chat; None shows an empty one, which begins with its first question."""
        self._drafts[self._chat_id] = self.composer.text
        self._chat_id = chat_id
        self._asking = None
        self.composer.set_text(self._drafts.get(chat_id, ""))
        self.reload()
        self.shown.emit(self._chat_id)

    def reload(self) -> None:
        """Read the chat again from the store."""
        try:
            path = self._chats.path(self._chat_id) if self._chat_id else ()
        except ChatNotFound:
            self._chat_id, path = None, ()
        except UserError as error:
            self._notifier.error(error)
            self._chat_id, path = None, ()
        self.mtp.show_chat(self._chat_id)
        messages = tuple(self._generation.so_far(message) for message in path)
        self.transcript.show_messages(messages)
        self._stack.setCurrentWidget(self.transcript if messages else self.welcome)
        self._show_answering()

    def ask(self, text: str) -> None:
        if self._is_answering():
            self.composer.set_text(text)
            return
        self._asking = self._generation.ask(self._chat_id, text, self._options())
        self._show_answering()

    def stop(self) -> None:
        if self._chat_id:
            self._generation.stop(self._chat_id)

    def regenerate(self) -> None:
        """Answer the last question again."""
        last = self._last_answer()
        if last is not None:
            self._answer_again(last)

    def copy_last(self) -> None:
        last = self._last_answer()
        if last is not None:
            self._copy(last)

    def _connect(self) -> None:
        self.composer.send.connect(self.ask)
        self.composer.stop.connect(self.stop)
        self.welcome.suggested.connect(self.ask)
        self.transcript.link.connect(self._notifier.ask_to_open)
        self.transcript.copied.connect(self._notifier.say_copied)
        self.transcript.copy.connect(self._copy)
        self.transcript.regenerate.connect(self._answer_again)
        self.transcript.go_on.connect(self._go_on)
        generation = self._generation
        generation.asked.connect(self._asked)
        generation.begun.connect(self._begun)
        generation.loading.connect(self._loading)
        generation.prompt.connect(self._prompt)
        generation.text.connect(self._text)
        generation.reasoning.connect(self._reasoning)
        generation.ended.connect(self._ended)
        generation.refused.connect(self._refused)
        generation.crashed.connect(self._crashed)

    def _answer_again(self, answer: StoredMessage) -> None:
        if not self._is_answering():
            self._asking = self._generation.regenerate(answer, self._options())
            self._show_answering()

    def _go_on(self, answer: StoredMessage) -> None:
        if not self._is_answering():
            self._asking = self._generation.resume(answer, self._options())
            self._show_answering()

    def _options(self) -> AnswerOptions:
        """How the next answer is to be written, where the settings do not say it."""
        return AnswerOptions(mtp=self.mtp.mode)

    def _is_answering(self) -> bool:
        running = self._chat_id is not None and self._generation.is_answering(self._chat_id)
        return running or self._asking is not None

    def _show_answering(self) -> None:
        self.composer.set_answering(self._is_answering())

    def _last_answer(self) -> StoredMessage | None:
        last = self.transcript.last()
        return last.message if last and last.message.role == "assistant" else None

    def _asked(self, number: int, question: StoredMessage) -> None:
        if number == self._asking and self._chat_id is None:
            self._chat_id = question.chat_id
            self._drafts.pop(None, None)
            self.mtp.adopt(question.chat_id)
            self.shown.emit(question.chat_id)
        if question.chat_id == self._chat_id:
            self._stack.setCurrentWidget(self.transcript)
            if self.transcript.view_of(question.id) is None:
                self.transcript.add(question)
        self.grown.emit()

    def _begun(self, answer: StoredMessage) -> None:
        if answer.chat_id != self._chat_id:
            return
        self._asking = None
        view = self.transcript.view_of(answer.id)
        if view is None:
            self.transcript.replace_from(answer)
        else:
            view.show_answer(answer)
            self.transcript.refresh_last()
        self._show_answering()

    def _loading(self, answer_id: str, share: float) -> None:
        view = self.transcript.view_of(answer_id)
        if view is not None:
            view.show_loading(share)

    def _prompt(self, answer_id: str, prompt: PromptReady) -> None:
        view = self.transcript.view_of(answer_id)
        if view is not None:
            view.show_prompt(prompt.left_out)

    def _text(self, answer_id: str, text: str) -> None:
        view = self.transcript.view_of(answer_id)
        if view is not None:
            view.append(text)

    def _reasoning(self, answer_id: str, text: str) -> None:
        view = self.transcript.view_of(answer_id)
        if view is not None:
            view.append_reasoning(text)

    def _ended(self, answer: StoredMessage) -> None:
        view = self.transcript.view_of(answer.id)
        if view is not None:
            view.end(answer)
            self.transcript.refresh_last()
        self._show_answering()

    def _refused(self, number: int, text: str, error: Exception) -> None:
        if number == self._asking:
            self._asking = None
        written_since = self.composer.text
        self.composer.set_text(f"{text}\n{written_since}" if written_since else text)
        self._show_answering()
        self._notifier.error(error)

    def _crashed(self, error: Exception) -> None:
        self._asking = None
        self._notifier.error(error)
        self.reload()

    def _copy(self, answer: StoredMessage) -> None:
        QGuiApplication.clipboard().setText(answer.text)
        self._notifier.say_copied()
