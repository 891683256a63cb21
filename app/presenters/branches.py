"""The branches of the chats in the window: going from one to another, and making new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.core.chats.asked import EDITED, as_json
from app.core.chats.conversation import StoredMessage
from app.core.chats.tree import Fork, Removed, Tree
from app.presenters.generation import Generation
from app.presenters.tasks import STORE, Tasks
from app.services.answers.answers import AnswerOptions
from app.store.branches import BranchStore

T = TypeVar("T")


class Branches(QObject):
    """An answer to what is replaced or taken out is stopped; all others are written on.

    switched(chat_id, message_id): the chat shows another path, for the sake of that message.
    removed(Removed): messages were taken out; `put_back` undoes it.
    edited(answer): an answer has the user's own words beside it now.
    failed(error): nothing has changed.
    """

    switched = Signal(str, str)
    removed = Signal(object)
    edited = Signal(object)
    failed = Signal(Exception)

    def __init__(
        self,
        store: BranchStore,
        generation: Generation,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._generation = generation
        self._tasks = tasks
        self._seen: dict[str, str] = {}

    def forks(self, chat_id: str, path: Sequence[str]) -> dict[str, Fork]:
        """Of the messages of a path, those that have others beside them."""
        beside = self._store.beside(chat_id)
        return {it: Fork(beside[it], beside[it].index(it)) for it in path if it in beside}

    def told(self, chat_id: str) -> tuple[Tree, str | None]:
        """All branches with how their messages begin, and the end of the path that is shown."""
        return self._store.told(chat_id), self._store.leaf(chat_id)

    def is_shown(self, message: StoredMessage) -> bool:
        """Whether a message, just written, is on the path that its chat shows."""
        return message.id in self._store.last_two(message.chat_id)

    def go(self, chat_id: str, message_id: str) -> None:
        """Show the path through a message, to where one was on it last."""

        def change() -> None:
            tree = self._store.tree(chat_id)
            leaf = self._store.leaf(chat_id)
            self._seen.update({it: leaf for it in tree.path(leaf) if leaf})
            self._store.show(chat_id, tree.leaf_of(message_id, self._seen))

        self._run(change, lambda _: self.switched.emit(chat_id, message_id))

    def ask_instead(
        self,
        question: StoredMessage,
        text: str,
        options: AnswerOptions,
        failed: Callable[[Exception], None],
    ) -> int:
        """Answer another wording of a question, beside the old one; returns its number.

        failed: called if that could not be saved, with the text still where it was written.
        """
        self._stop_below(question)
        return self._generation.ask_by(
            lambda: self._store.ask_instead(question, text),
            options,
            lambda _number, error: failed(error),
        )

    def say_instead(
        self, answer: StoredMessage, text: str, failed: Callable[[Exception], None]
    ) -> None:
        """Put the user's own words beside an answer; how its text came about is kept apart."""
        self._stop_below(answer)
        asked = as_json(replace(EDITED, name=answer.facts.model if answer.facts else ""))
        self._tasks.run(
            lambda: self._store.say_instead(answer, text, asked),
            self.edited.emit,
            failed,
            on=STORE,
        )

    def answer_again(self, message: StoredMessage, options: AnswerOptions) -> int:
        """Answer a question, or the question of an answer, once more; returns the number."""
        self._stop_below(message)
        if message.role == "assistant":
            return self._generation.regenerate(message, options)
        return self._generation.answer_by(lambda: self._store.answer_to(message), options)

    def edits(self, chat_id: str) -> dict[str, str]:
        """What was being written in place of messages, by their ids."""
        return self._store.edits(chat_id)

    def keep_edit(self, message_id: str, text: str | None) -> None:
        """For another run; None: it was sent or put away."""
        self._run(lambda: self._store.keep_edit(message_id, text), lambda _: None)

    def rate(self, message: StoredMessage, rating: int) -> None:
        """1 is good, -1 bad, 0 takes a rating back."""
        self._run(lambda: self._store.rate(message.id, rating), lambda _: None)

    def remove(self, message: StoredMessage) -> None:
        """Take out a message with all that follows it; `removed` brings what undoes it."""
        self._stop_below(message)
        self._run(lambda: self._store.remove(message, dict(self._seen)), self.removed.emit)

    def put_back(self, removed: Removed) -> None:
        """Undo `remove`: all is there again, and the view is the former one."""
        self._run(
            lambda: self._store.put_back(removed),
            lambda _: self.switched.emit(removed.chat_id, removed.message_id),
        )

    def _stop_below(self, message: StoredMessage) -> None:
        answering = self._generation.answering(message.chat_id)
        if answering:
            below = set(self._store.tree(message.chat_id).below(message.id))
            for answer_id in answering:
                if answer_id in below:
                    self._generation.stop_answer(answer_id)

    def _run(self, change: Callable[[], T], done: Callable[[T], None]) -> None:
        self._tasks.run(change, done, self.failed.emit, on=STORE)
