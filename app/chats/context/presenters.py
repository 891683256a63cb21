"""The context of chats, for the window: its use, the policy and the pins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from app.chats.answers.values.answers import AnswerOptions
from app.chats.context.services.counting import Counting
from app.chats.context.store import SummaryStore
from app.chats.context.values.budget import ContextUse
from app.chats.history.values.conversation import OverflowPolicy, StoredMessage
from app.documents.values.documents import Attachment
from app.kit.tasks.latest import Latest
from app.kit.tasks.tasks import STORE, Tasks
from app.settings.presenters import SettingsService
from engines.errors import UserError

COUNTING = "counting"


class ContextUses(QObject):
    """Measures contexts, on a task queue of its own that waits for no answer.

    Signals:
        known(chat_id or None, ContextUse or None): The result of the last request; None if it
            cannot be measured, as when the model is gone.
        hindered(chat_id or None, UserError or None): Why a file cannot be sent.
        changed(chat_id): A policy, a pin or a summary of the chat was saved.
        failed(error): A change could not be saved, or there is a bug in Hearth.
    """

    known = Signal(object, object)
    hindered = Signal(object, object)
    changed = Signal(str)
    failed = Signal(Exception)

    def __init__(
        self,
        counting: Counting,
        summaries: SummaryStore,
        settings: SettingsService,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._counting = counting
        self._summaries = summaries
        self._settings = settings
        self._tasks = tasks
        self._latest = Latest(tasks, COUNTING)
        self._chosen: dict[str, OverflowPolicy] = {}

    def measure(
        self,
        chat_id: str | None,
        draft: str,
        options: AnswerOptions,
        known: ContextUse | None = None,
        attachments: Sequence[Attachment] = (),
    ) -> None:
        """Measure the next question with its files; this replaces an earlier request.

        Args:
            known: The previous result, if only the draft has changed since.
        """
        settings = self._settings.current

        def failed(error: Exception) -> None:
            if isinstance(error, UserError):
                self.known.emit(chat_id, None)
            else:
                self.failed.emit(error)

        def count() -> tuple[ContextUse, UserError | None]:
            counting = self._counting
            hindrance = counting.hindrance(chat_id, settings, options, attachments)
            if known is not None:
                use = counting.again(known, chat_id, draft, settings, options, attachments)
            else:
                use = counting.use(chat_id, draft, settings, options, attachments)
            return use, hindrance

        def found(result: tuple[ContextUse, UserError | None]) -> None:
            use, hindrance = result
            self.known.emit(chat_id, use)
            self.hindered.emit(chat_id, hindrance)

        self._latest.run(count, found, failed)

    def policy(self, chat_id: str | None) -> OverflowPolicy:
        """Return the policy for a full context, including one that is not saved yet."""
        own = None
        if chat_id is not None:
            own = self._chosen.get(chat_id) or self._summaries.overflow(chat_id)
        return own or self._settings.current.overflow

    def set_policy(self, chat_id: str, policy: OverflowPolicy) -> None:
        """Set the chat's policy for a full context; it applies at once, before it is saved."""
        self._chosen[chat_id] = policy
        self._save(chat_id, lambda: self._summaries.set_overflow(chat_id, policy))

    def pin(self, message: StoredMessage, pinned: bool) -> None:
        """Pin a message so that it stays in the prompt, or unpin it."""
        self._save(message.chat_id, lambda: self._summaries.set_pinned(message.id, pinned))

    def forget_summary(self, chat_id: str, message_id: str) -> None:
        """Remove the summary attached to a message; the messages themselves are sent again."""
        self._save(chat_id, lambda: self._summaries.forget(message_id))

    def close(self) -> None:
        """Stop measuring."""
        self._latest.forget()

    def _save(self, chat_id: str, change: Callable[[], None]) -> None:
        self._tasks.run(change, lambda _: self.changed.emit(chat_id), self.failed.emit, on=STORE)
