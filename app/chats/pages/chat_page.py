"""The page of a chat, which connects the presenters and the widgets of one chat."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
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
from app.chats.context.pages.chat_context import ChatContext
from app.chats.find.pages.chat_find import ChatFind
from app.chats.pages.sending import Sending
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
from app.kit.widgets.toast_room import ToastRoom
from engines.errors import UserError

if TYPE_CHECKING:
    from app.chats.composer.pages.local_only_line import LocalOnlyLine
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.pages.engine_badge import EngineBadge
    from app.chats.presenters.chat_presenters import ChatPresenters
    from app.documents.viewer.pages.file_viewer import FileViewer
    from app.kit.notify import Notifier
    from app.servers.presenters import Destination
    from app.settings.values.fields import Settings


_LEAST_FOR_BANNERS = 400
"""The height of the page in pixels below which the banners are hidden, to leave room."""


class ChatPage(QWidget):
    """The page of a chat.

    Args:
        presenters: The presenters; `open_chat` among them is the chat that is shown.
        settings: The general settings.
        notifier: Shows errors and confirmations.
        composer: An existing composer; None creates one.

    Signals:
        grown(): A chat has a new question.
        first_shown(shown): The first screen has taken the place of an empty chat, or has left it.
        file_opened(sha256): The user wants to see an attached file.
    """

    grown = Signal()
    first_shown = Signal(bool)
    file_opened = Signal(str)

    def __init__(
        self,
        presenters: ChatPresenters,
        settings: Settings,
        notifier: Notifier,
        composer: Composer | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._presenters = presenters
        self._chat = presenters.open_chat
        self._chats = presenters.chats
        self._generation = presenters.generation
        self._branches = presenters.branches
        self._notifier = notifier
        self._first_screen: QWidget | None = None
        self._has_left_first_screen = False
        # Before the parts below: they never see a chat that cannot be read.
        self._chat.opened.connect(self._show_opened)
        self._make_transcript(settings)
        self._make_composer(composer or Composer())
        self._make_actions(settings)
        self._lay_out()
        self._connect_parts()
        self._connect_presenters()
        self.apply(settings)

    def _make_transcript(self, settings: Settings) -> None:
        """Create the messages, and the welcome that a new chat shows instead."""
        generation = self._generation
        self.welcome = Welcome()
        self.transcript = Transcript(settings.text_size, generation.so_far)
        self.finding = ChatFind(self.transcript)
        self._stream = AnswerStream(generation, self.transcript, self)

    def _make_composer(self, composer: Composer) -> None:
        """Create the parts of the composer, which belong to the next message."""
        presenters, chat, notifier = self._presenters, self._chat, self._notifier
        generation = self._generation
        self.composer = composer
        self._drop_hint: QWidget | None = None
        self.thinking = ChatThinking(composer, presenters.thinking, chat, generation, self)
        self.mtp = ChatMtp(composer, self._chats, chat, generation, notifier.ask, self)
        self.files = ChatFiles(presenters.files, composer, chat, notifier, self)
        self.recording = ChatRecording(
            presenters.recording, composer, self.files, chat, notifier, self
        )
        self.context = ChatContext(
            self, composer, self.files, self.transcript, presenters.context, generation, chat
        )
        self.queue = ChatQueue(
            presenters.waiting, chat, generation, composer, notifier, self.ask_model, self
        )
        self._server = ""
        self._badge: EngineBadge | None = None
        self._local_only_line: LocalOnlyLine | None = None
        self._sending = Sending(presenters, composer, self.files, self._options, notifier, self)

    def _make_actions(self, settings: Settings) -> None:
        """Create the parts around single messages."""
        presenters, transcript, notifier = self._presenters, self.transcript, self._notifier
        self.answers = ChatAnswers(
            transcript, self.composer, presenters, settings, self._options, notifier, self
        )
        self.fixes = Fixes(
            self._chat,
            self._generation,
            notifier,
            lambda message: self.answers.act("regenerate", message),
            self,
        )
        self._sent_files = SentFiles(
            transcript, self.files.thumbnails, self._generation, self.answers.ask_without, self
        )
        self.keys = MessageKeys(transcript, self.composer.focus, self)
        MessageRing(transcript, self)
        self.citations = CitationMarks(transcript, presenters.citations, notifier, self)
        self._voice = AnswerVoice(self._generation, transcript, self)

    def _lay_out(self) -> None:
        self._stack = QStackedWidget()
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(self.transcript)
        self._banner_area = QWidget()
        self.banners = QVBoxLayout(self._banner_area)
        self.banners.setContentsMargins(0, 0, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._banner_area)
        column.addWidget(self.finding.bar)
        above = ToastRoom("top")
        above.grown.connect(self.transcript.scroll_keeper.make_room_above)
        column.addWidget(above)
        column.addWidget(self._stack, 1)
        column.addWidget(ToastRoom("bottom", self._has_room_below))
        column.addWidget(self.queue.strip)
        column.addWidget(self.composer)
        self.composer.order_tabs()

    def _has_room_below(self, height: int) -> bool:
        """Return whether toasts of this height fit under the content without hiding any of it.

        The end of a long chat has the buttons of the last answer; there they are above the content.
        """
        shows_messages = self._stack.currentWidget() is self.transcript
        return not shows_messages or self.transcript.free_height >= height

    def _connect_parts(self) -> None:
        composer, transcript, notifier = self.composer, self.transcript, self._notifier
        composer.changed.connect(lambda: self._chats.drafts.set_text(self._chat.id, composer.text))
        composer.changed.connect(self._leave_if_written)
        composer.stop.connect(self.stop)
        self._sending.changed.connect(self._show_answering)
        self._sent_files.file_opened.connect(self.file_opened)
        self.files.file_opened.connect(self.file_opened)
        self.file_opened.connect(self._view_file)
        self.welcome.suggested.connect(self._ask_suggested)
        self.citations.opened.connect(
            lambda place: self.viewer.show_file(place.document, place.name, place.spans)
        )
        transcript.link.connect(notifier.ask_to_open)
        transcript.copied.connect(notifier.say_copied)
        self.answers.asking.connect(self._sending.expect)
        self.answers.refused.connect(self._sending.expect_no_more)
        self.answers.pin.connect(self.context.pin)
        self.answers.fix.connect(self.fixes.do)
        self.context.fix.connect(
            lambda failure: self.fixes.wanted.emit(
                failure.action, failure.value, self.context.refresh
            )
        )

    def _connect_presenters(self) -> None:
        branches, generation = self._branches, self._generation
        self._chat.failed.connect(self._notifier.error)
        for signal in (self._chat.opened, self._chat.stored, self._chat.changed):
            signal.connect(self._show_local_only)
        branches.switched.connect(self._show_path)
        branches.removed.connect(
            lambda removed: self._show_path(removed.chat_id, removed.message_id)
        )
        branches.edited.connect(lambda edited: self._show_path(edited.chat_id, edited.id))
        generation.asked.connect(self._asked)
        generation.begun.connect(self._begun)
        generation.ended.connect(lambda _: self._show_answering())
        generation.ended.connect(lambda _: self.finding.refresh())
        generation.crashed.connect(self._crashed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the banners in a low window."""
        super().resizeEvent(event)
        self._banner_area.setVisible(event.size().height() >= scaled(_LEAST_FOR_BANNERS))

    @property
    def shows_first_screen(self) -> bool:
        """True if the first screen is shown in place of an empty chat."""
        screen = self._first_screen
        return screen is not None and self._stack.currentWidget() is screen

    def set_first_screen(self, screen: QWidget | None) -> None:
        """Set the page that takes the place of an empty chat and its composer; None for none.

        After `leave_first_screen` it is not shown again.
        """
        self._first_screen = None if self._has_left_first_screen else screen
        if screen is not None and self._stack.indexOf(screen) < 0:
            self._stack.addWidget(screen)
        self._leave_if_written()
        self._show_stacked(self._stack.currentWidget() is self.transcript)

    def leave_first_screen(self) -> None:
        """Show the empty chat with its composer, for the rest of this window's life."""
        self._has_left_first_screen = True
        self.set_first_screen(None)

    def write(self) -> None:
        """Let the user write a message, also to the guide."""
        self.leave_first_screen()
        self.composer.focus()

    def focus(self) -> None:
        """Focus the message field, or the first screen in its place."""
        screen = self._first_screen
        if screen is not None and self.shows_first_screen:
            # No button of it: a key must not start a download unseen.
            screen.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.composer.focus()

    @property
    def chat_id(self) -> str | None:
        """The open chat; None for the new chat, which is not stored yet."""
        return self._chat.id

    @cached_property
    def viewer(self) -> FileViewer:
        """The window that shows the files of the chat, created on first use."""
        from app.documents.viewer.pages.file_viewer import FileViewer

        return FileViewer(self._presenters.viewing, self._notifier, self)

    def apply(self, settings: Settings) -> None:
        """Use new settings."""
        self.transcript.set_text_size(scaled(settings.text_size))
        self.transcript.set_wrap(settings.code_lines == "wrap")
        self.composer.set_send_with(settings.send_with)
        self._voice.turn(settings.announce)
        self.answers.apply(settings)
        self.mtp.refresh()
        self.thinking.show()
        self._show_local_only()

    def open_chat(self, chat_id: str | None) -> None:
        """Show a chat; None shows the new chat, which is stored with its first question."""
        self.finding.close()
        self.composer.edit.commit()  # a word that is being composed belongs to the chat before
        self._chat.open(chat_id)

    def reload(self) -> None:
        """Read the chat from the store and show it again."""
        self._show_messages()
        self.mtp.refresh()
        self.queue.refresh()
        self.context.refresh()

    def show_place(self, place: Destination | None) -> None:
        """Show to which server this chat's text goes, before it is sent; None for no server."""
        if self._badge is None and place is not None:
            from app.chats.pages.engine_badge import EngineBadge

            self._badge = EngineBadge(parent=self.composer)
            self.composer.above.addWidget(self._badge)
        if self._badge is not None:
            self._badge.show_place(place)
        self._server = place.server if place is not None else ""
        self._show_local_only()
        self.mtp.show_at_server(place is not None)

    def ask(self, text: str) -> None:
        """Ask a question, or let it wait while an answer is being written."""
        self._sending.ask(text)

    def ask_model(self, model: str) -> None:
        """Send the written message to another model than the chat's."""
        self.composer.submit(model)

    def show_drop_hint(self, visible: bool) -> None:
        """Show or hide where files can be dropped, above the message field."""
        if self._drop_hint is None:
            from app.kit.widgets.card import drop_hint

            words = self.tr("Drop files here to ask about them.")
            self._drop_hint = drop_hint("chatDropHint", "attach", words)
            self.composer.above.insertWidget(0, self._drop_hint)
        self._drop_hint.setVisible(visible)

    def stop(self) -> None:
        """Stop the answers of the open chat."""
        if self._chat.id:
            self._generation.stop(self._chat.id)

    def stop_seen(self) -> None:
        """Stop the answers that are shown, but not those on other branches of the open chat."""
        for message in self.transcript.messages:
            self._generation.stop_answer(message.id)

    def _show_local_only(self) -> None:
        """Show or hide the line for a chat that the user has not sent to the default server."""
        server = self._chat.withheld_model
        if self._local_only_line is None and server is not None:
            from app.chats.composer.pages.local_only_line import LocalOnlyLine

            self._local_only_line = LocalOnlyLine(self.composer)
            self._local_only_line.chosen.connect(self._send_to_server)
            self.composer.above.addWidget(self._local_only_line)
        if self._local_only_line is not None:
            self._local_only_line.show_model(server)

    def _send_to_server(self) -> None:
        """Let the default server answer in this chat from now on, as the user has chosen."""
        server = self._chat.withheld_model
        if server is not None:
            self._chat.set_model(server)

    def _show_opened(self) -> None:
        """Show the draft and the messages of the chat that was opened."""
        self._show_messages()
        draft = self._chats.drafts.of(self._chat.id)
        if self.composer.text != draft:
            self.composer.set_text(draft)

    def _show_messages(self) -> None:
        """Read the messages and show them, or the new chat if the chat cannot be read."""
        chat_id = self._chat.id
        path: tuple[StoredMessage, ...] = ()
        try:
            path = self._chats.path(chat_id) if chat_id is not None else ()
        except UserError as error:
            if not isinstance(error, ChatNotFound):
                self._notifier.error(error)
            self._chat.open(None)
            return
        messages = tuple(self._generation.so_far(message) for message in path)
        self.transcript.show_messages(messages)
        if chat_id is not None:
            self._stream.show_waiting(chat_id)
        self.answers.refresh()
        self._show_stacked(bool(messages))
        self._show_answering()

    def _show_stacked(self, has_messages: bool) -> None:
        """Show the messages, or the first screen or the welcome in an empty chat."""
        was_first = self.composer.isHidden()
        empty_page = self._first_screen or self.welcome
        self._stack.setCurrentWidget(self.transcript if has_messages else empty_page)
        is_first = self.shows_first_screen
        self.composer.setHidden(is_first)
        if is_first != was_first:
            self.first_shown.emit(is_first)

    def _leave_if_written(self) -> None:
        """Leave the first screen if there is a text or a file to send."""
        if self._first_screen is not None and self.composer.has_content:
            self.leave_first_screen()

    def _ask_suggested(self, text: str) -> None:
        """Ask a suggested question and focus the composer, as the pressed button is gone."""
        self.ask(text)
        self.composer.focus()

    def _view_file(self, sha256: str) -> None:
        """Show a file of the chat, or of the unsent message, in the viewer."""
        sent = (
            attachment for message in self.transcript.messages for attachment in message.attachments
        )
        names = {file.sha256: file.name for file in (*sent, *self.files.attachments)}
        self.viewer.show_file(sha256, names.get(sha256, ""))

    def _options(self) -> AnswerOptions:
        """Return the options of the next answer that the settings do not contain."""
        settings = {"mtp": self.mtp.mode, "overflow": self.context.overflow()}
        return AnswerOptions(settings, begins=self._chat.begins)

    def _show_answering(self) -> None:
        self.composer.set_answering(self._sending.is_answering)

    def _show_path(self, chat_id: str, message_id: str) -> None:
        """Show another branch of the chat, which differs from the old one from a message on."""
        if chat_id != self._chat.id:
            return
        path = self._chats.path(chat_id)
        if not path:
            self.reload()
            return
        self._show_stacked(True)
        self.transcript.show_branch(
            [self._generation.so_far(message) for message in path], message_id
        )
        self._stream.show_waiting(chat_id)
        self.answers.refresh()
        self.context.refresh()
        self._show_answering()

    def _asked(self, question: StoredMessage) -> None:
        if question.chat_id == self._chat.id:
            self._show_stacked(True)
            shown_ids = [message.id for message in self.transcript.messages]
            if question.id not in shown_ids[-2:] and self._branches.is_shown(question):
                if question.parent_id in (None, *shown_ids):
                    self.transcript.replace_from(question)
                else:
                    # There is a greeting before it, or a terminal has continued this chat.
                    self.reload()
        self.grown.emit()

    def _begun(self, answer: StoredMessage) -> None:
        if answer.chat_id != self._chat.id:
            return
        view = self.transcript.view_of(answer.id)
        if view is not None:
            view.show_answer(answer)
        elif self._branches.is_shown(answer):
            self.transcript.replace_from(answer)
        self._stream.begin(answer.id, self._server)
        self.answers.refresh()
        self._sending.expect_no_more()

    def _crashed(self, error: Exception) -> None:
        self._sending.expect_no_more()
        self._notifier.error(error)
        self.reload()
