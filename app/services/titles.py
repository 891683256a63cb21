"""Titles for new chats, by the model that answered, when it has nothing else to do."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing

from PySide6.QtCore import QObject, Signal

from app.core.conversation import StoredMessage
from app.core.errors import ChatNotFound
from app.core.titles import title_in, title_request
from app.services.generation import Generation
from app.services.runtime import Runtime
from app.services.settings import SettingsService
from app.services.tasks import ENGINE, Task, Tasks
from app.store.chats import ChatStore
from engines.cancel import CancelToken
from engines.types import Done, TextDelta

_TRIES = 3
"""Questions after which a chat keeps the title it has."""

_log = logging.getLogger(__name__)


class Titles(QObject):
    """titled(chat_id, title): the chat has a title by the model now.

    It never loads a model, gives way to an answer at once, and leaves a title by the user alone.
    A model that fails at it leaves the title from the first question.
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
        self._running: Task | None = None
        generation.begun.connect(lambda _: self.stop())
        generation.ended.connect(self._ended)

    def stop(self) -> None:
        """The engine is wanted; a later answer gives the next chance."""
        if self._running is not None:
            self._running.cancel()

    def _ended(self, answer: StoredMessage) -> None:
        if self._settings.current.auto_titles and answer.state == "complete":
            self._running = self._tasks.stream(
                lambda cancel: self._title(answer, cancel),
                lambda titles: self.titled.emit(answer.chat_id, titles[-1]),
                lambda: None,
                lambda error: _log.warning("no title was made: %s", error),
                on=ENGINE,
            )

    def _title(self, answer: StoredMessage, cancel: CancelToken) -> Iterator[str]:
        question = self._question(answer)
        entry = self._runtime.entry
        # What comes with Hearth knows nothing but Hearth, and no task such as this one.
        if question is None or entry is None or entry.builtin:
            return
        facts = answer.facts
        if entry.engine == "remote" and (facts is None or facts.model != entry.name):
            return  # another model has answered since: this chat is none of that server's
        mtp = facts.mtp.mode if facts is not None and facts.mtp is not None else "auto"
        said, finished = "", False
        request = title_request(question, answer.text, mtp)
        with closing(self._runtime.chat(request, cancel)) as events:
            for event in events:
                if isinstance(event, TextDelta):
                    said += event.text
                elif isinstance(event, Done):
                    finished = event.finish_reason == "stop"
                if "\n" in said.strip():
                    break
        title = None if cancel.cancelled else title_in(said, finished)
        if title is not None and self._store.entitle(answer.chat_id, title):
            yield title

    def _question(self, answer: StoredMessage) -> str | None:
        """What the chat began with; None if it needs no title any more."""
        try:
            chat = self._store.chat(answer.chat_id)
        except ChatNotFound:
            return None
        asked = [it.text for it in self._store.path(chat.id) if it.role == "user"]
        return asked[0] if chat.titled_by == "text" and 0 < len(asked) <= _TRIES else None
