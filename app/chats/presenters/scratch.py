"""A chat of which nothing is saved: its services have stores of their own, in memory.

Nothing here knows a file, so there is nothing on disk to protect. The engine gets no chat id, so it
writes no KV cache for it. The system can still move memory to its swap space, which a program
cannot prevent.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.chats.answers.presenters.generation import Generation
from app.chats.context.presenters import ContextUses
from app.chats.history.presenters.chat_settings import ChatSettings
from app.chats.history.presenters.chats import Chats
from app.chats.history.values.conversation import StoredMessage
from app.chats.presenters.answering import Answering
from app.kit.tasks.tasks import STORE, Tasks


class Scratch(QObject):
    """The scratch chat; there is at most one.

    Args:
        forget: Releases its memory, once nothing works on it any more.

    Signals:
        failed(error): A bug in Hearth while the chat was being removed.
    """

    failed = Signal(Exception)

    def __init__(
        self,
        chats: Chats,
        generation: Generation,
        answering: Answering,
        chat_settings: ChatSettings,
        context: ContextUses,
        forget: Callable[[], None],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.chats = chats
        self.generation = generation
        self.answering = answering
        self.chat_settings = chat_settings
        self.context = context
        self.tasks = tasks
        self._forget = forget
        self._chat_id: str | None = None
        for part in (chats, generation, chat_settings, context):
            part.setParent(self)
        generation.asked.connect(self._asked)

    @property
    def has_messages(self) -> bool:
        return self._chat_id is not None

    def close(self) -> None:
        """Stop the answers and remove everything. Nothing can be asked afterwards."""
        # The listeners go away with the window.
        self.generation.blockSignals(True)
        self.generation.stop_all()
        self.context.close()
        self.chats.drafts.forget()
        self.answering.files.forget()
        self.answering.recording.drop()
        # The queue works in order: a question handed in earlier already has its answer when this
        # runs.
        self.tasks.run(lambda: None, lambda _: self._end(), self.failed.emit, on=STORE)

    def _asked(self, question: StoredMessage) -> None:
        self._chat_id = question.chat_id

    def _end(self) -> None:
        self.generation.stop_all(self._clear)

    def _clear(self) -> None:
        self.tasks.run(self._forget, lambda _: self.deleteLater(), self.failed.emit, on=STORE)
