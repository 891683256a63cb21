"""Asks the model that answered for a title of a new chat, when it has nothing else to do."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing

from PySide6.QtCore import QObject, Signal

from app.base.errors import ChatNotFound
from app.chats.answers.presenters.generation import Generation
from app.chats.answers.values.answers import Ready
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage
from app.chats.history.values.titles import title_in, title_request
from app.kit.tasks.tasks import ENGINE, Task, Tasks
from app.runtime.services.lease import Lease
from app.runtime.services.runtime import Runtime
from app.settings.presenters import SettingsService
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.types import Done, TextDelta

_TRIES = 3
"""Number of questions after which a chat keeps the title it has."""

_log = logging.getLogger(__name__)


class Titles(QObject):
    """Gives chats titles written by the model.

    The model that answered is asked in its turn, if it is still loaded. The request gives way to
    any answer at once, and never replaces a title set by the user. If the model fails, the title
    from the first question stays.

    Signals:
        titled(chat_id, title): The chat now has a title written by the model.
    """

    titled = Signal(str, str)

    def __init__(
        self,
        store: ChatStore,
        runtime: Runtime,
        generation: Generation,
        settings: SettingsService,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._runtime = runtime
        self._settings = settings
        self._tasks = tasks
        self._running: set[Task] = set()
        self._ready: dict[str, Ready] = {}
        generation.begun.connect(lambda _: self.stop())
        generation.ready.connect(self._remember)
        generation.ended.connect(self._ended)

    @property
    def is_busy(self) -> bool:
        """True if a title is being made or waits for its turn."""
        return bool(self._running)

    def stop(self) -> None:
        """Stop because the engine is needed; a later answer gives another chance."""
        for task in self._running:
            task.cancel()

    def _remember(self, answer_id: str, ready: Ready) -> None:
        self._ready[answer_id] = ready

    def _ended(self, answer: StoredMessage) -> None:
        ready = self._ready.pop(answer.id, None)
        # The built-in guide only knows about Hearth, and cannot make titles.
        if ready is None or ready.entry.builtin or answer.state != "complete":
            return
        if self._settings.current.auto_titles:

            def failed(error: Exception) -> None:
                self._running.discard(task)
                _log.warning("no title was made: %s", error)

            task = self._tasks.stream(
                lambda cancel: self._title(answer, ready, cancel),
                lambda titles: self.titled.emit(answer.chat_id, titles[-1]),
                lambda: self._running.discard(task),
                failed,
                on=ENGINE,
            )
            self._running.add(task)

    def _title(self, answer: StoredMessage, ready: Ready, cancel: CancelToken) -> Iterator[str]:
        question = self._question(answer)
        if question is None:
            return
        try:
            model = self._runtime.spare(ready.entry, ready.load_options, cancel)
        except Cancelled:
            return
        if model is None:
            return
        with model:
            title = _title(model, question, answer, cancel)
        if title is not None and self._store.entitle(answer.chat_id, title):
            yield title

    def _question(self, answer: StoredMessage) -> str | None:
        """Return the chat's first question; None if the chat needs no title any more."""
        try:
            chat = self._store.chat(answer.chat_id)
        except ChatNotFound:
            return None
        questions = [
            message.text for message in self._store.path(chat.id) if message.role == "user"
        ]
        return questions[0] if chat.titled_by == "text" and 0 < len(questions) <= _TRIES else None


def _title(model: Lease, question: str, answer: StoredMessage, cancel: CancelToken) -> str | None:
    """Ask the model for a title; return None if it gives none. Raises EngineError."""
    facts = answer.facts
    mtp = facts.mtp.mode if facts is not None and facts.mtp is not None else "auto"
    text, finished = "", False
    request = title_request(question, answer.text, mtp)
    with closing(model.chat(request, cancel)) as events:
        for event in events:
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, Done):
                finished = event.finish_reason == "stop"
            if "\n" in text.strip():
                break
    return None if cancel.cancelled else title_in(text, finished)
