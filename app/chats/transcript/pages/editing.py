"""The editing of messages in place, in the open chat."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.kit.timer import timer

if TYPE_CHECKING:
    from app.chats.answers.values.answers import AnswerOptions
    from app.chats.history.presenters.branches import Branches
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.transcript.pages.inline_edit import InlineEdit
    from app.chats.transcript.pages.message_view import MessageView
    from app.chats.transcript.pages.transcript import Transcript
    from app.kit.notify import Notifier

_PAUSE_MS = 400
"""How long the user has to pause before the text is saved, in milliseconds."""


class Editing(QObject):
    """The editing of messages in place; the text is kept until the user sends or discards it.

    Signals:
        asking(): The user asks the new wording of a question.
        refused(): The new wording could not be saved.
    """

    asking = Signal()
    refused = Signal()

    def __init__(
        self,
        transcript: Transcript,
        branches: Branches,
        options: Callable[[], AnswerOptions],
        notifier: Notifier,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._branches = branches
        self._options = options
        self._notifier = notifier
        self._send_with = "enter"
        self._texts: dict[str, str] = {}
        self._unsaved: set[str] = set()
        self._pause = timer(self, _PAUSE_MS, self._save)
        self._edited_answers: dict[str | None, str] = {}
        transcript.showing.connect(self._reopen_editor)
        branches.edited.connect(self._edited)

    def set_send_with(self, keys: str) -> None:
        """Set the keys that send, a value of the setting `send_with`, for new editors."""
        self._send_with = keys

    def show_chat(self, chat_id: str) -> None:
        """Open the editors of messages that the user was editing in this chat."""
        self._texts = {**self._branches.edits(chat_id), **self._texts}
        for view in self._transcript.views:
            if view.message.id in self._texts and not view.is_edited:
                self._open(view)

    def begin(self, message: StoredMessage) -> None:
        """Edit a message, starting with an unfinished text if there is one."""
        view = self._transcript.go_to(message.id)
        if view is not None:
            self._texts.setdefault(message.id, message.text)
            self._open(view).focus()

    def _reopen_editor(self, view: MessageView) -> None:
        if view.message.id in self._texts:
            self._open(view)

    def _open(self, view: MessageView) -> InlineEdit:
        from app.chats.transcript.pages.inline_edit import InlineEdit

        message = view.message
        sends = message.role == "user"
        if sends:
            note = self.tr("The old wording and its answers stay as another branch.")
        else:
            note = self.tr("The model’s own words stay as another branch.")
        editor = InlineEdit(message.text, self._texts[message.id], note, sends=sends)
        editor.set_send_with(self._send_with)
        editor.changed.connect(lambda text: self._remember(message.id, text))
        editor.done.connect(lambda text: self._submit(message, text))
        editor.cancelled.connect(lambda text: self._cancel(message, text))
        view.put_editor(editor)
        return editor

    def _submit(self, message: StoredMessage, text: str) -> None:
        def failed(error: Exception) -> None:
            self._notifier.error(error)
            view = self._transcript.view_of(message.id)
            if view is not None:
                self._open(view).focus()

        def refused(error: Exception) -> None:
            self.refused.emit()
            failed(error)

        if message.role == "user":
            self.asking.emit()
            self._branches.ask_instead(
                message, text, self._options(), lambda _: self._close(message.id), refused
            )
        else:
            self._edited_answers[message.parent_id] = message.id
            self._branches.say_instead(message, text, failed)

    def _cancel(self, message: StoredMessage, text: str) -> None:
        self._close(message.id)
        if text.strip() != message.text.strip():

            def resume() -> None:
                self._texts[message.id] = text
                self.begin(message)

            self._notifier.offer_undo(self.tr("Your changes were discarded."), resume)

    def _edited(self, answer: StoredMessage) -> None:
        if answer.parent_id in self._edited_answers:
            self._close(self._edited_answers.pop(answer.parent_id))

    def _remember(self, message_id: str, text: str) -> None:
        self._texts[message_id] = text
        self._unsaved.add(message_id)
        self._pause.start()

    def _save(self) -> None:
        for message_id in self._unsaved & self._texts.keys():
            self._branches.keep_edit(message_id, self._texts[message_id])
        self._unsaved.clear()

    def _close(self, message_id: str) -> None:
        if self._texts.pop(message_id, None) is not None:
            self._branches.keep_edit(message_id, None)
        view = self._transcript.view_of(message_id)
        if view is not None:
            view.put_editor(None)
