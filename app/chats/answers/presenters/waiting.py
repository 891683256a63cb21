"""Messages that are written during an answer and sent when it has ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from app.base.ids import new_id
from app.chats.answers.presenters.generation import Generation
from app.chats.answers.values.answers import AnswerOptions
from app.chats.history.store.waiting import WaitingStore
from app.chats.history.values.conversation import StoredMessage
from app.chats.history.values.waiting import Waiting
from app.documents.values.documents import Attachment
from app.kit.tasks.tasks import STORE, Tasks
from app.settings.values.fields import fields as settings_fields

_STORED_OPTIONS = ("seed", "stop", "grammar", "depth", "thinking_budget", "collections")
"""The options stored with a message besides its settings; the others are not stored."""


class WaitingMessages(QObject):
    """The waiting messages; each is stored until it becomes a question in its chat.

    A message written in this run is sent automatically as long as answers end well. After a stop, a
    failure or a restart it waits for the user to send or remove it.

    Signals:
        changed(chat_id): The chat's waiting messages or their state changed.
        failed(error): A change could not be saved.
    """

    changed = Signal(str)
    failed = Signal(Exception)

    def __init__(
        self,
        store: WaitingStore,
        generation: Generation,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._generation = generation
        self._tasks = tasks
        self._going: dict[str, str] = {}
        self._leaving: dict[str, str] = {}
        self._urgent: dict[str, Waiting] = {}
        generation.ended.connect(self._ended)
        generation.crashed.connect(self._crashed)

    def of(self, chat_id: str) -> tuple[Waiting, ...]:
        """Return a chat's waiting messages in the order in which they are sent."""
        return tuple(
            waiting for waiting in self._store.of(chat_id) if waiting.id not in self._leaving
        )

    def is_going(self, item: Waiting) -> bool:
        """Return whether a message is sent automatically."""
        return item.id in self._going

    def is_sending(self, chat_id: str) -> bool:
        """Return whether a message of this chat is being sent or will be sent automatically."""
        return chat_id in self._leaving.values() or chat_id in self._going.values()

    def add(
        self,
        chat_id: str,
        text: str,
        options: AnswerOptions,
        failed: Callable[[Exception], None],
        attachments: Sequence[Attachment] = (),
    ) -> None:
        """Add a message with its files.

        Args:
            failed: Called if the message could not be saved.
        """
        item_id = new_id()
        self._going[item_id] = chat_id  # it can be read before its save is reported

        def added(_: Waiting) -> None:
            self.changed.emit(chat_id)
            if not self._generation.is_answering(chat_id):
                self._next(chat_id)  # the answer ended meanwhile

        def not_added(error: Exception) -> None:
            self._going.pop(item_id, None)
            failed(error)

        stored = options_as_json(options)
        self._tasks.run(
            lambda: self._store.add(chat_id, text, stored, item_id, attachments),
            added,
            not_added,
            on=STORE,
        )

    def change(self, item: Waiting, text: str) -> None:
        """Change a message's text."""
        self._write(item.chat_id, lambda: self._store.change(item.id, text))

    def move(self, item: Waiting, step: int) -> None:
        """Move a message earlier (-1) or later (1)."""
        order = [waiting.id for waiting in self.of(item.chat_id)]
        place = order.index(item.id) + step
        if 0 <= place < len(order):
            order.remove(item.id)
            order.insert(place, item.id)
            self._write(item.chat_id, lambda: self._store.arrange(order))

    def remove(self, item: Waiting) -> Callable[[], None]:
        """Remove a message, and return a function that undoes it."""
        order = [waiting.id for waiting in self.of(item.chat_id)]
        chat_id = self._going.pop(item.id, None)
        if self._urgent.get(item.chat_id) == item:
            del self._urgent[item.chat_id]
        self._write(item.chat_id, lambda: self._store.remove(item.id))

        def put_back() -> None:
            if chat_id is not None and self._generation.is_answering(chat_id):
                self._going[item.id] = chat_id
            self._write(item.chat_id, lambda: self._store.put_back(item, order))

        return put_back

    def send_now(self, item: Waiting) -> None:
        """Send a message before all others, on the shown branch; stop the answer being written."""
        if self._generation.is_answering(item.chat_id):
            self._urgent[item.chat_id] = item
            self._generation.stop(item.chat_id)
        else:
            self._send(item, on_shown_branch=True)

    def send_all(self, chat_id: str) -> None:
        """Send all waiting messages, one after the other, from the shown branch."""
        waiting = self.of(chat_id)
        self._going.update({item.id: chat_id for item in waiting})
        if waiting and not self._generation.is_answering(chat_id):
            self._send(waiting[0], on_shown_branch=True)
        self.changed.emit(chat_id)

    def options_of(self, item: Waiting) -> AnswerOptions:
        """Return the options stored with a message."""
        return options_from_json(item.options)

    def _ended(self, answer: StoredMessage) -> None:
        chat_id = answer.chat_id
        if self._generation.is_answering(chat_id):
            return
        urgent = self._urgent.pop(chat_id, None)
        if urgent is not None:
            self._send(urgent, on_shown_branch=True)
        elif answer.state == "complete":
            self._next(chat_id)
        else:
            self._stop_sending(chat_id)

    def _crashed(self, _error: Exception) -> None:
        # Where a message is being sent or answered, another answer is in progress.
        for chat_id in {*self._going.values(), *self._urgent} - {*self._leaving.values()}:
            if not self._generation.is_answering(chat_id):
                self._stop_sending(chat_id)

    def _next(self, chat_id: str) -> None:
        going = [item for item in self.of(chat_id) if item.id in self._going]
        if going:
            self._send(going[0], on_shown_branch=False)

    def _stop_sending(self, chat_id: str) -> None:
        """Stop sending this chat's messages automatically; the user decides from now on."""
        self._urgent.pop(chat_id, None)
        self._going = {
            waiting_id: chat for waiting_id, chat in self._going.items() if chat != chat_id
        }
        self.changed.emit(chat_id)

    def _send(self, item: Waiting, *, on_shown_branch: bool) -> None:
        if item.chat_id in self._leaving.values():
            return
        self._leaving[item.id] = item.chat_id
        self._going.pop(item.id, None)

        def save() -> tuple[StoredMessage, StoredMessage]:
            return self._store.send(item.id, on_shown_branch=on_shown_branch)

        def sent(question: StoredMessage) -> None:
            self._leaving.pop(item.id, None)
            self.changed.emit(question.chat_id)

        def failed(error: Exception) -> None:
            self._leaving.pop(item.id, None)
            self._stop_sending(item.chat_id)
            self.failed.emit(error)

        self._generation.ask_by(save, options_from_json(item.options), sent, failed)
        self.changed.emit(item.chat_id)

    def _write(self, chat_id: str, change: Callable[[], None]) -> None:
        self._tasks.run(change, lambda _: self.changed.emit(chat_id), self.failed.emit, on=STORE)


def options_as_json(options: AnswerOptions) -> str:
    """Write a message's options as JSON, to be stored with it: settings and others, by name."""
    usual = AnswerOptions()
    values = {name: getattr(options, name) for name in _STORED_OPTIONS}
    chosen = {name: value for name, value in values.items() if value != getattr(usual, name)}
    settings = {name: value for name, value in options.settings.items() if value is not None}
    return json.dumps({**settings, **chosen}, ensure_ascii=False)


def options_from_json(text: str) -> AnswerOptions:
    """Read a message's options, ignoring names that this Hearth does not know."""
    known_names = {*_STORED_OPTIONS, *settings_fields()}
    values = {name: value for name, value in json.loads(text).items() if name in known_names}
    for name in {"stop", "collections"} & values.keys():
        values[name] = tuple(values[name])
    return AnswerOptions().changed(**values)
