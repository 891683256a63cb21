"""Sends the questions of the open chat, or queues them while an answer is being written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.chats.answers.values.answers import AnswerOptions

if TYPE_CHECKING:
    from app.chats.composer.pages.chat_files import ChatFiles
    from app.chats.composer.pages.composer import Composer
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.presenters.chat_presenters import ChatPresenters
    from app.documents.values.documents import Attachment
    from app.kit.notify import Notifier


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
        queued: The messages that the user sent in the meantime.
    """

    queued: list[_Message] = field(default_factory=list)


class Sending(QObject):
    """The questions that the user sends in the open chat.

    Args:
        presenters: The open chat, its drafts, the writing of answers and the waiting messages.
        composer: Gets the text back if it cannot be sent.
        files: The files of the next message.
        options: Returns the options of the next answer that the settings do not contain.
        notifier: Shows errors.
        parent: The parent object.

    Signals:
        changed(): A question is being saved, or no longer.
    """

    changed = Signal()

    def __init__(
        self,
        presenters: ChatPresenters,
        composer: Composer,
        files: ChatFiles,
        options: Callable[[], AnswerOptions],
        notifier: Notifier,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._chat = presenters.open_chat
        self._drafts = presenters.chats.drafts
        self._generation = presenters.generation
        self._waiting = presenters.waiting
        self._composer = composer
        self._files = files
        self._options = options
        self._notifier = notifier
        self._asking: _Asking | None = None
        composer.send.connect(self._send)
        self._chat.opened.connect(self.expect_no_more)

    @property
    def is_answering(self) -> bool:
        """True if an answer of the open chat is being written, or was requested."""
        chat_id = self._chat.id
        running = chat_id is not None and self._generation.is_answering(chat_id)
        return running or self._asking is not None

    def ask(self, text: str, model: str | None = None, files: tuple[Attachment, ...] = ()) -> None:
        """Ask a question, or let it wait while an answer is being written.

        Args:
            text: The question.
            model: The id of the model that answers; None for the chat's model.
            files: The attached files.
        """
        message = _Message(text, self._options().changed(model=model), files)
        chat_id = self._chat.id
        if self._asking is not None and chat_id is None:
            self._asking.queued.append(message)
        elif chat_id is not None and (self.is_answering or self._waiting.is_sending(chat_id)):
            self._enqueue(chat_id, message)
        else:
            asking = self.expect()
            self._generation.ask(
                chat_id,
                text,
                message.options,
                lambda question: self._saved(asking, question),
                lambda error: self._refused(asking, message, error),
                files,
            )

    def expect(self) -> _Asking:
        """Mark a question as being saved."""
        self._asking = asking = _Asking()
        self.changed.emit()
        return asking

    def expect_no_more(self) -> None:
        """Forget the question that is being saved: it is saved, refused or of another chat."""
        self._asking = None
        self.changed.emit()

    def _send(self, text: str, model: str | None) -> None:
        """Ask the written question with its files."""
        chat_id = self._chat.id
        files = self._files.take()
        self.ask(text, model, files)
        if files:
            self._files.sent(chat_id)

    def _enqueue(self, chat_id: str, message: _Message) -> None:
        self._waiting.add(
            chat_id,
            message.text,
            message.options,
            lambda error: self._refused(None, message, error),
            message.files,
        )

    def _saved(self, asking: _Asking, question: StoredMessage) -> None:
        """Open the stored chat of a question, unless the user has left the new chat."""
        if asking is self._asking and self._chat.id is None:
            self._drafts.adopt(question.chat_id)
            self._chat.adopt(question.chat_id)
        for message in asking.queued:
            self._enqueue(question.chat_id, message)

    def _refused(self, asking: _Asking | None, message: _Message, error: Exception) -> None:
        if asking is self._asking:
            self._asking = None
        unsent = [message, *(asking.queued if asking is not None else [])]
        texts = [*(unsent_message.text for unsent_message in unsent), self._composer.text]
        self._composer.set_text("\n".join(filter(None, texts)))
        self._files.put_back([file for unsent_message in unsent for file in unsent_message.files])
        self.changed.emit()
        self._notifier.error(error)
