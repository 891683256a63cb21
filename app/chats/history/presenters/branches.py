"""Shows other branches of chats in the window, and creates new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from app.chats.answers.presenters.generation import Generation, QuestionSaved
from app.chats.answers.values.answer_record import EDITED, as_json
from app.chats.answers.values.answers import AnswerOptions
from app.chats.history.store.branches import BranchStore
from app.chats.history.values.conversation import StoredMessage
from app.chats.history.values.tree import Fork, RemovedMessage, Tree
from app.kit.tasks.tasks import STORE, Failed, Tasks

T = TypeVar("T")


class Branches(QObject):
    """Changes branches.

    Answers to a replaced or removed message are stopped; others continue.

    Signals:
        switched(chat_id, message_id): The chat shows another path, chosen for this message.
        removed(RemovedMessage): Messages were removed; `put_back` undoes it.
        edited(answer): The user's own text was added beside an answer.
        failed(error): Nothing has changed.
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
        self._last_shown: dict[str, str] = {}

    def forks(self, chat_id: str, path: Sequence[str]) -> dict[str, Fork]:
        """Return the fork at each message of a path that has siblings."""
        siblings = self._store.siblings(chat_id)
        return {
            message_id: Fork(siblings[message_id], siblings[message_id].index(message_id))
            for message_id in path
            if message_id in siblings
        }

    def tree(self, chat_id: str) -> tuple[Tree, str | None]:
        """Return all branches with the beginnings of their messages, and the shown leaf."""
        return self._store.tree_with_words(chat_id), self._store.leaf(chat_id)

    def is_shown(self, message: StoredMessage) -> bool:
        """Return whether a message that was just written is on the path that its chat shows."""
        return message.id in self._store.last_two(message.chat_id)

    def go(self, chat_id: str, message_id: str) -> None:
        """Show the path through a message, up to where it ended when it was last shown."""

        def change() -> None:
            tree = self._store.tree(chat_id)
            leaf = self._store.leaf(chat_id)
            self._last_shown.update({message_id: leaf for message_id in tree.path(leaf) if leaf})
            self._store.show(chat_id, tree.leaf_of(message_id, self._last_shown))

        self._run(change, lambda _: self.switched.emit(chat_id, message_id))

    def ask_instead(
        self,
        question: StoredMessage,
        text: str,
        options: AnswerOptions,
        done: QuestionSaved,
        failed: Failed,
        without: str = "",
    ) -> None:
        """Ask a question in other words, beside the old one, and have it answered.

        Args:
            done: Called with the new question.
            failed: Called if it was not saved; the text then stays where the user wrote it.
            without: Hash of an attached file to leave out.
        """
        self._stop_below(question)
        left = tuple(
            attachment for attachment in question.attachments if attachment.sha256 != without
        )
        question = replace(question, attachments=left)
        self._generation.ask_by(
            lambda: self._store.ask_instead(question, text), options, done, failed
        )

    def say_instead(
        self, answer: StoredMessage, text: str, failed: Callable[[Exception], None]
    ) -> None:
        """Add the user's own text beside an answer, with a record that the user wrote it."""
        self._stop_below(answer)
        record = as_json(replace(EDITED, name=answer.facts.model if answer.facts else ""))
        self._tasks.run(
            lambda: self._store.say_instead(answer, text, record),
            self.edited.emit,
            failed,
            on=STORE,
        )

    def answer_again(self, message: StoredMessage, options: AnswerOptions, failed: Failed) -> None:
        """Answer a question, or the question of an answer, once more."""
        self._stop_below(message)
        if message.role == "assistant":
            self._generation.regenerate(message, options, failed)
        else:
            self._generation.answer_by(lambda: self._store.answer_to(message), options, failed)

    def edits(self, chat_id: str) -> dict[str, str]:
        """Return the unfinished edits in place of messages, by message id."""
        return self._store.edits(chat_id)

    def keep_edit(self, message_id: str, text: str | None) -> None:
        """Save an unfinished edit for the next run; None once it was sent or dropped."""
        self._run(lambda: self._store.keep_edit(message_id, text), lambda _: None)

    def rate(self, message: StoredMessage, rating: int) -> None:
        """Rate an answer: 1 is good, -1 bad, 0 removes the rating."""
        self._run(lambda: self._store.rate(message.id, rating), lambda _: None)

    def remove(self, message: StoredMessage) -> None:
        """Remove a message and everything that follows it.

        The signal `removed` carries the value that `put_back` needs.
        """
        self._stop_below(message)
        self._run(lambda: self._store.remove(message, dict(self._last_shown)), self.removed.emit)

    def put_back(self, removed: RemovedMessage) -> None:
        """Undo `remove`, and show the same path as before."""
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
