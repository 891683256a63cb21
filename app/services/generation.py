"""Asking and answering in the window: signals out, one call a verb in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.core.conversation import StoredMessage
from app.services.answers import AnswerEvent, AnswerOptions, Answers, Ended
from app.services.settings import SettingsService
from app.services.tasks import ENGINE, STORE, Task, Tasks
from app.store.chats import ChatStore
from engines.cancel import CancelToken
from engines.types import PromptReady, ReasoningDelta, TextDelta


class Generation(QObject):
    """Answers are written one after the other, in the order in which they were asked for.

    asked(question): it is saved; it may have begun a new chat.
    begun(answer): an answer is waited for; it is empty, or has text when it is continued.
    loading(answer_id, share): the model is being loaded for it, 0.0 to 1.0.
    prompt(answer_id, PromptReady), text(answer_id, str), reasoning(answer_id, str): as it comes,
    in batches about 30 times a second.
    ended(answer): complete, stopped or failed, as it was saved.
    refused(text, error): the question could not be saved; nothing was asked.
    crashed(error): a bug of ours.
    """

    asked = Signal(object)
    begun = Signal(object)
    loading = Signal(str, float)
    prompt = Signal(str, object)
    text = Signal(str, str)
    reasoning = Signal(str, str)
    ended = Signal(object)
    refused = Signal(str, Exception)
    crashed = Signal(Exception)

    def __init__(
        self,
        store: ChatStore,
        answers: Answers,
        settings: SettingsService,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._answers = answers
        self._settings = settings
        self._tasks = tasks
        self._running: dict[str, tuple[str, Task]] = {}
        self._pieces: dict[str, list[str]] = {}
        self._unsaved: dict[str, StoredMessage] = {}

    def ask(self, chat_id: str | None, text: str) -> None:
        """Save a question, then answer it. A chat of None begins a new one."""

        def saved(pair: tuple[StoredMessage, StoredMessage]) -> None:
            question, answer = pair
            self.asked.emit(question)
            self._answer(answer)

        self._tasks.run(
            lambda: self._store.ask(chat_id, text),
            saved,
            lambda error: self.refused.emit(text, error),
            on=STORE,
        )

    def regenerate(self, answer: StoredMessage) -> None:
        """Answer the same question again; the old answer stays as a branch."""
        self._reopen(lambda: self._store.answer_again(answer.chat_id, answer.id))

    def resume(self, answer: StoredMessage) -> None:
        """Go on with an answer that was stopped or interrupted, or failed."""
        self._reopen(lambda: self._store.reopen(answer))

    def stop(self, chat_id: str) -> None:
        """End the answer in this chat; what is there is kept."""
        if chat_id in self._running:
            self._running[chat_id][1].cancel()

    def is_answering(self, chat_id: str) -> bool:
        return chat_id in self._running

    def so_far(self, answer: StoredMessage) -> StoredMessage:
        """An answer from the store, with the text that has come since it was last saved.

        One whose last save failed is kept here with its text, until it is continued and saved.
        """
        if answer.id in self._unsaved:
            return self._unsaved[answer.id]
        if answer.id not in self._pieces:
            return answer
        return replace(answer, text="".join(self._pieces[answer.id]))

    def _reopen(self, change: Callable[[], StoredMessage]) -> None:
        self._tasks.run(change, self._answer, self.crashed.emit, on=STORE)

    def _answer(self, answer: StoredMessage) -> None:
        settings = self._settings.current

        def work(cancel: CancelToken) -> Iterator[AnswerEvent]:
            def progress(share: float) -> None:
                self.loading.emit(answer.id, share)

            return self._answers.write(answer, settings, AnswerOptions(), progress, cancel)

        def failed(error: Exception) -> None:
            self._over(answer)
            self.crashed.emit(error)

        self._unsaved.pop(answer.id, None)
        self._pieces[answer.id] = [answer.text]
        self._running[answer.chat_id] = (
            answer.id,
            self._tasks.stream(
                work,
                lambda events: self._pass_on(answer.id, events),
                lambda: None,
                failed,
                on=ENGINE,
            ),
        )
        self.begun.emit(answer)

    def _over(self, answer: StoredMessage) -> None:
        """Forget what was kept while this answer was written; a later one of its chat stays."""
        self._pieces.pop(answer.id, None)
        if self._running.get(answer.chat_id, ("",))[0] == answer.id:
            del self._running[answer.chat_id]

    def _pass_on(self, answer_id: str, events: list[Any]) -> None:
        """Emit a batch, with neighbouring pieces of text joined."""
        text: list[str] = []
        reasoning: list[str] = []

        def flush() -> None:
            if reasoning:
                self.reasoning.emit(answer_id, "".join(reasoning))
                reasoning.clear()
            if text:
                self._pieces[answer_id] += text
                self.text.emit(answer_id, "".join(text))
                text.clear()

        for event in events:
            if isinstance(event, TextDelta):
                text.append(event.text)
            elif isinstance(event, ReasoningDelta):
                reasoning.append(event.text)
            elif isinstance(event, PromptReady):
                self.prompt.emit(answer_id, event)
            elif isinstance(event, Ended):
                flush()
                self._over(event.message)
                if not event.saved:
                    self._unsaved[answer_id] = event.message
                self.ended.emit(event.message)
        flush()
