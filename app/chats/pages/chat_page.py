"""The page of a chat, which connects the presenters and the widgets of one chat."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.base.errors import ChatNotFound
from app.chats.answers.values.answers import AnswerOptions
from app.chats.citations.pages.marks import CitationMarks
from app.chats.composer.pages.chat_files import ChatFiles
from app.chats.composer.pages.chat_mtp import ChatMtp
from app.chats.composer.pages.chat_queue import ChatQueue
from app.chats.composer.pages.chat_recording import ChatRecording
from app.chats.composer.pages.chat_thinking import ChatThinking
from app.chats.composer.pages.composer import Composer
from app.chats.composer.pages.mtp_chip import MtpChip
from app.chats.composer.pages.thinking_switch import ThinkingSwitch
from app.chats.context.pages.chat_context import ChatContext
from app.chats.find.pages.chat_find import ChatFind
from app.chats.transcript.pages.answer_stream import AnswerStream
from app.chats.transcript.pages.answer_voice import AnswerVoice
from app.chats.transcript.pages.chat_answers import ChatAnswers
from app.chats.transcript.pages.fixes import Fixes
from app.chats.transcript.pages.message_keys import MessageKeys
from app.chats.transcript.pages.message_ring import MessageRing
from app.chats.transcript.pages.sent_files import SentFiles
from app.chats.transcript.pages.transcript import Transcript
from app.chats.welcome.pages.welcome import Welcome
from app.kit.look.scale import scaled
from engines.errors import UserError

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.composer.pages.stay_line import StayLine
    from app.chats.context.presenters import ContextUses
    from app.chats.history.presenters.chat_settings import ChatSettings
    from app.chats.history.presenters.chats import Chats
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.pages.engine_badge import EngineBadge
    from app.chats.presenters.answering import Answering
    from app.documents.values.documents import Attachment
    from app.documents.viewer.pages.file_viewer import FileViewer
    from app.kit.notify import Notifier
    from app.servers.presenters import Destination
    from app.settings.values.fields import Settings


_LEAST_FOR_BANNERS = 400
"""The height of the page in pixels below which the banners are hidden, to leave room."""


@dataclass(frozen=True)
class _Message:
    """A message that the user sends."""

    text: str
    options: AnswerOptions
    files: tuple[Attachment, ...] = ()


@dataclass(eq=False)
class _Asking:
    """A question that is being saved.

    Attributes:
        behind: The messages that the user sent in the meantime.
    """

    behind: list[_Message] = field(default_factory=list)


class ChatPage(QWidget):
    """The page of a chat.

    Args:
        chats: The stored chats.
        generation: Writes the answers.
        answering: The presenters of branches, files, recordings, quotes and waiting messages.
        chat_settings: The settings of chats.
        context: The shares of the context.
        settings: The general settings.
        notifier: Shows errors and confirmations.
        composer: An existing composer; None creates one.

    Signals:
        shown(chat_id): Another chat is shown; None is the new chat.
        grown(): A chat has a new question.
        file_opened(sha256): The user wants to see an attached file.
    """

    shown = Signal(object)
    grown = Signal()
    file_opened = Signal(str)

    def __init__(
        self,
        chats: Chats,
        generation: Generation,
        answering: Answering,
        chat_settings: ChatSettings,
        context: ContextUses,
        settings: Settings,
        notifier: Notifier,
        composer: Composer | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._chats = chats
        self._generation = generation
        self._chat_settings = chat_settings
        self._notifier = notifier
        self._chat_id: str | None = None
        self._asking: _Asking | None = None
        self._badge: EngineBadge | None = None
        self._stay: StayLine | None = None
        self._drafts = chats.drafts
        self._answering = answering
        self.welcome = Welcome()
        self.transcript = Transcript(settings.text_size, generation.so_far)
        self.composer = composer or Composer()
        self._server = ""
        self._stream = AnswerStream(generation, self.transcript, self)
        self.finding = ChatFind(self.transcript)
        switch, chip = ThinkingSwitch(), MtpChip()
        self.composer.options.add(switch, switch.fill)
        self.composer.options.add(chip, chip.fill)
        self.thinking = ChatThinking(switch, answering.thinking, chat_settings, generation, self)
        self.mtp = ChatMtp(chip, chats, generation, settings, notifier.ask, self)
        self.files = ChatFiles(answering.files, self.composer, notifier, self)
        self.recording = ChatRecording(
            answering.recording, self.composer, self.files, chat_settings, notifier, self
        )
        self.context = ChatContext(
            self, self.composer, self.files, self.transcript, context, generation, chat_settings
        )
        self.answers = ChatAnswers(
            self.transcript,
            self.composer,
            generation,
            answering,
            settings,
            self._options,
            notifier,
            self,
        )
        self.fixes = Fixes(
            chat_settings, notifier, lambda it: self.answers.act("regenerate", it), self
        )
        self.queue = ChatQueue(
            answering.waiting, generation, self.composer, notifier, self.ask_model, self
        )
        self._sent = SentFiles(
            self.transcript, self.files.thumbnails, generation, self.answers.ask_without, self
        )
        self.keys = MessageKeys(self.transcript, self.composer.focus, self)
        MessageRing(self.transcript, self)
        self.citations = CitationMarks(self.transcript, answering.citations, notifier, self)
        self._voice = AnswerVoice(generation, self.transcript, self)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self.transcript)
        self._above = QWidget()
        self.banners = QVBoxLayout(self._above)
        self.banners.setContentsMargins(0, 0, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._above)
        column.addWidget(self.finding.bar)
        column.addWidget(self._stack, 1)
        column.addWidget(self.queue.strip)
        column.addWidget(self.composer)
        self.composer.order_tabs()
        self._connect()
        self.apply(settings)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._above.setVisible(event.size().height() >= scaled(_LEAST_FOR_BANNERS))

    @property
    def chat_id(self) -> str | None:
        """The open chat; None for the new chat, which is not stored yet."""
        return self._chat_id

    @cached_property
    def viewer(self) -> FileViewer:
        """The window that shows the files of the chat, created on first use."""
        from app.documents.viewer.pages.file_viewer import FileViewer

        return FileViewer(self._answering.viewing, self._notifier, self)

    def apply(self, settings: Settings) -> None:
        """Use new settings."""
        self.transcript.set_text_size(scaled(settings.text_size))
        self.transcript.set_wrap(settings.code_lines == "wrap")
        self.composer.set_send_with(settings.send_with)
        self._voice.turn(settings.announce)
        self.answers.apply(settings)
        self.mtp.apply(self._chat_settings.resolve(self._chat_id).settings)
        self.thinking.show()
        self._show_stay()

    def open_chat(self, chat_id: str | None) -> None:
        """Show a chat; None shows the new chat, which is stored with its first question."""
        self.finding.close()
        self._chat_id = chat_id
        self._asking = None
        if chat_id is None:
            self._chat_settings.fresh()
        draft = self._drafts.of(chat_id)
        if self.composer.text != draft:
            self.composer.set_text(draft)
        self.files.show_chat(chat_id)
        self.reload()
        self.shown.emit(self._chat_id)

    def reload(self) -> None:
        """Read the chat from the store and show it again."""
        try:
            path = self._chats.path(self._chat_id) if self._chat_id else ()
        except ChatNotFound:
            self._show_none()
            path = ()
        except UserError as error:
            self._notifier.error(error)
            self._show_none()
            path = ()
        self.mtp.show_chat(self._chat_id)
        self.thinking.show_chat(self._chat_id)
        self.recording.show_chat(self._chat_id)
        messages = tuple(self._generation.so_far(message) for message in path)
        self.transcript.show_messages(messages)
        if self._chat_id is not None:
            self._stream.show_waiting(self._chat_id)
        self.context.show_chat(self._chat_id)
        self.answers.refresh(self._chat_id)
        self.queue.show_chat(self._chat_id)
        self._stack.setCurrentWidget(self.transcript if messages else self.welcome)
        self._show_answering()

    def _show_none(self) -> None:
        """Show the new chat, as the requested one cannot be read."""
        self._chat_id = None
        self.files.show_chat(None)

    def show_place(self, place: Destination | None) -> None:
        """Show to which server this chat's text goes, before it is sent; None for no server."""
        if self._badge is None and place is not None:
            from app.chats.pages.engine_badge import EngineBadge

            self._badge = EngineBadge(parent=self.composer)
            self.composer.above.addWidget(self._badge)
        if self._badge is not None:
            self._badge.show_place(place)
        self._server = place.server if place is not None else ""
        self.mtp.show_at_server(place is not None)
        self._show_stay()

    def _show_stay(self) -> None:
        """Show or hide the line for a chat that the user has not sent to the default server."""
        server = self._chat_settings.withheld_model(self._chat_id)
        if self._stay is None and server is not None:
            from app.chats.composer.pages.stay_line import StayLine

            self._stay = StayLine(self.composer)
            self._stay.chosen.connect(self._send_there)
            self.composer.above.addWidget(self._stay)
        if self._stay is not None:
            self._stay.show_model(server)

    def _send_there(self) -> None:
        """Let the server answer in this chat from now on, as the user has just chosen."""
        server = self._chat_settings.withheld_model(self._chat_id)
        if server is not None:
            self._chat_settings.set_model(self._chat_id, server)

    def ask(self, text: str, model: str | None = None, files: tuple[Attachment, ...] = ()) -> None:
        """Ask a question, or let it wait while an answer is being written.

        Args:
            text: The question.
            model: The id of the model that answers; None for the chat's model.
            files: The attached files.
        """
        message = _Message(text, self._options().changed(model=model), files)
        if self._asking is not None and self._chat_id is None:
            self._asking.behind.append(message)
        elif self._chat_id is not None and self._is_busy(self._chat_id):
            self._put_behind(self._chat_id, message)
        else:
            asking = self._expect()
            self._generation.ask(
                self._chat_id,
                text,
                message.options,
                lambda question: self._saved(asking, question),
                lambda error: self._refused(asking, message, error),
                files,
            )

    def _ask_suggested(self, text: str) -> None:
        """Ask a suggested question and focus the composer, as the pressed button is gone."""
        self.ask(text)
        self.composer.focus()

    def _send(self, text: str, model: str | None) -> None:
        """Ask the written question with its files."""
        chat_id = self._chat_id
        files = self.files.take()
        self.ask(text, model, files)
        if files:
            self.files.sent(chat_id)

    def ask_model(self, model: str) -> None:
        """Send the written message to another model than the chat's."""
        self.composer.submit(model)

    def stop(self) -> None:
        """Stop the answers of the open chat."""
        if self._chat_id:
            self._generation.stop(self._chat_id)

    def _connect(self) -> None:
        self.composer.changed.connect(lambda: self._drafts.keep(self._chat_id, self.composer.text))
        self.composer.send.connect(self._send)
        self._sent.file_opened.connect(self.file_opened)
        self.files.file_opened.connect(self.file_opened)
        self.file_opened.connect(self._look_at)
        self.composer.stop.connect(self.stop)
        self._chat_settings.changed.connect(lambda _: self._show_stay())
        self.welcome.suggested.connect(self._ask_suggested)
        self.citations.opened.connect(
            lambda it: self.viewer.show_file(it.document, it.name, it.spans)
        )
        self.transcript.link.connect(self._notifier.ask_to_open)
        self.transcript.copied.connect(self._notifier.say_copied)
        self.answers.asking.connect(self._expect)
        self.answers.refused.connect(self._expect_no_more)
        self.answers.pin.connect(self.context.pin)
        self.answers.fix.connect(self.fixes.do)
        self.context.fix.connect(
            lambda it: self.fixes.wanted.emit(it.action, it.value, self.context.look)
        )
        branches = self._answering.branches
        branches.switched.connect(self._show_path)
        branches.removed.connect(lambda it: self._show_path(it.chat_id, it.message_id))
        branches.edited.connect(lambda it: self._show_path(it.chat_id, it.id))
        generation = self._generation
        generation.asked.connect(self._asked)
        generation.begun.connect(self._begun)
        generation.ended.connect(self._ended)
        generation.ended.connect(lambda _: self.finding.refresh())
        generation.crashed.connect(self._crashed)

    def _look_at(self, sha256: str) -> None:
        """Show a file of the chat, or of the unsent message, in the viewer."""
        sent = (it for message in self.transcript.messages for it in message.attachments)
        names = {it.sha256: it.name for it in (*sent, *self.files.attachments)}
        self.viewer.show_file(sha256, names.get(sha256, ""))

    def _options(self) -> AnswerOptions:
        """Return the options of the next answer that the settings do not contain."""
        begins = self._chat_settings.begins() if self._chat_id is None else None
        settings = {"mtp": self.mtp.mode, "overflow": self.context.overflow()}
        return AnswerOptions(settings, begins=begins)

    def _is_answering(self) -> bool:
        running = self._chat_id is not None and self._generation.is_answering(self._chat_id)
        return running or self._asking is not None

    def _is_busy(self, chat_id: str) -> bool:
        """Return whether a message has to wait for earlier questions and answers."""
        return self._is_answering() or self._answering.waiting.is_sending(chat_id)

    def _put_behind(self, chat_id: str, message: _Message) -> None:
        self._answering.waiting.add(
            chat_id,
            message.text,
            message.options,
            lambda error: self._refused(None, message, error),
            message.files,
        )

    def _show_answering(self) -> None:
        self.composer.set_answering(self._is_answering())

    def _expect(self) -> _Asking:
        """Mark a question as being saved."""
        self._asking = _Asking()
        self._show_answering()
        return self._asking

    def _expect_no_more(self) -> None:
        self._asking = None
        self._show_answering()

    def _show_path(self, chat_id: str, message_id: str) -> None:
        """Show another branch of the chat, which differs from the old one from a message on."""
        if chat_id != self._chat_id:
            return
        path = self._chats.path(chat_id)
        if not path:
            self.reload()
            return
        self._stack.setCurrentWidget(self.transcript)
        self.transcript.show_branch([self._generation.so_far(it) for it in path], message_id)
        self._stream.show_waiting(chat_id)
        self.answers.refresh(chat_id)
        self.context.show_chat(chat_id)
        self._show_answering()

    def _saved(self, asking: _Asking, question: StoredMessage) -> None:
        self._adopt(asking, question)
        for message in asking.behind:
            self._put_behind(question.chat_id, message)

    def _adopt(self, asking: _Asking, question: StoredMessage) -> None:
        """Make the stored chat of a question the open chat, unless the user has left it."""
        if asking is self._asking and self._chat_id is None:
            self._chat_id = question.chat_id
            self._drafts.adopt(question.chat_id)
            self.files.adopt(question.chat_id)
            self.recording.adopt(question.chat_id)
            self.mtp.adopt(question.chat_id)
            self.thinking.show_chat(question.chat_id)
            self.context.adopt(question.chat_id)
            self.queue.show_chat(question.chat_id)
            self._chat_settings.fresh()
            if question.parent_id is not None:
                self.reload()  # there is a greeting before the question
            self.shown.emit(question.chat_id)

    def _asked(self, question: StoredMessage) -> None:
        if question.chat_id == self._chat_id:
            self._stack.setCurrentWidget(self.transcript)
            known = [it.id for it in self.transcript.messages]
            if question.id not in known[-2:] and self._answering.branches.is_shown(question):
                if question.parent_id in (None, *known):
                    self.transcript.replace_from(question)
                else:
                    self.reload()  # a terminal has continued this chat in the meantime
        self.grown.emit()

    def _begun(self, answer: StoredMessage) -> None:
        if answer.chat_id != self._chat_id:
            return
        self._asking = None
        view = self.transcript.view_of(answer.id)
        if view is not None:
            view.show_answer(answer)
        elif self._answering.branches.is_shown(answer):
            self.transcript.replace_from(answer)
        self._stream.begin(answer.id, self._server)
        self.answers.refresh(self._chat_id)
        self._show_answering()

    def _ended(self, _answer: StoredMessage) -> None:
        self._show_answering()

    def _refused(self, asking: _Asking | None, message: _Message, error: Exception) -> None:
        if asking is self._asking:
            self._asking = None
        unsent = [message, *(asking.behind if asking is not None else [])]
        texts = [*(it.text for it in unsent), self.composer.text]
        self.composer.set_text("\n".join(filter(None, texts)))
        self.files.put_back([file for it in unsent for file in it.files])
        self._show_answering()
        self._notifier.error(error)

    def _crashed(self, error: Exception) -> None:
        self._asking = None
        self._notifier.error(error)
        self.reload()
