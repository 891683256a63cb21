"""The waiting messages of the open chat, between the strip and the presenters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.chats.composer.pages.queue_strip import QueueStrip
from app.models.library.pages.names import name_of
from app.models.library.values.entry import other_models

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.answers.presenters.waiting import WaitingMessages
    from app.chats.composer.pages.composer import Composer
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.history.values.waiting import Waiting
    from app.chats.presenters.open_chat import OpenChat
    from app.kit.notify import Notifier
    from app.models.library.values.entry import ModelEntry


class ChatQueue(QObject):
    """The waiting messages of the open chat, and the menu that sends to another model.

    Args:
        waiting: The waiting messages.
        chat: The open chat.
        generation: Writes the answers.
        composer: The composer.
        notifier: Shows errors and *Undo*.
        ask: Sends the composer's message to the model with this id.
        parent: The parent object.
    """

    def __init__(
        self,
        waiting: WaitingMessages,
        chat: OpenChat,
        generation: Generation,
        composer: Composer,
        notifier: Notifier,
        ask: Callable[[str], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._waiting = waiting
        self._chat = chat
        self._notifier = notifier
        self._ask = ask
        self._composer = composer
        self._entries: Sequence[ModelEntry] = ()
        self._current = ""
        self.strip = QueueStrip()
        self.strip.act.connect(self._act)
        self.strip.changed.connect(waiting.change)
        self.strip.send_all.connect(self._send_all)
        composer.add_to_menu(self._fill)
        chat.opened.connect(self.refresh)
        chat.stored.connect(self.refresh)
        waiting.changed.connect(self._changed)
        waiting.failed.connect(notifier.error)
        generation.begun.connect(self._answer_changed)
        generation.ended.connect(self._answer_changed)

    def set_models(self, entries: Sequence[ModelEntry], current: str) -> None:
        """Set the models to choose from.

        Args:
            entries: The models.
            current: The id or name of the chat's model.
        """
        self._entries, self._current = entries, current

    def refresh(self) -> None:
        """Show the waiting messages of the open chat."""
        items = self._waiting.of(self._chat.id) if self._chat.id else ()
        self.strip.show_items(items, self._waiting.is_going, self._model_of)

    def _changed(self, chat_id: str) -> None:
        if chat_id == self._chat.id:
            self.refresh()

    def _answer_changed(self, answer: StoredMessage) -> None:
        self._changed(answer.chat_id)

    def _model_of(self, item: Waiting) -> str:
        model = self._waiting.options_of(item).model
        names = {entry.id: name_of(entry) for entry in self._entries}
        return names.get(model, model) if model else ""

    def _act(self, name: str, item: Waiting) -> None:
        if name == "send":
            self._waiting.send_now(item)
        elif name == "remove":
            undo = self._waiting.remove(item)
            self._notifier.offer_undo(self.tr("The waiting message was removed."), undo)
        else:
            self._waiting.move(item, -1 if name == "up" else 1)

    def _send_all(self) -> None:
        if self._chat.id:
            self._waiting.send_all(self._chat.id)

    def _fill(self, menu: QMenu) -> None:
        action = menu.addAction(self.tr("Send to another model…"))
        action.setObjectName("sendToAnother")
        choices = other_models(self._entries, self._current)
        action.setEnabled(bool(choices and self._composer.has_content))
        action.triggered.connect(lambda: self._pick(choices))

    def _pick(self, choices: Sequence[ModelEntry]) -> None:
        from app.models.library.pages.model_picker import pick_model

        pick_model(choices, self._ask, self._composer)
