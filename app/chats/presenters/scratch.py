"""A chat of which nothing is kept: its services have stores of their own, in memory.

What protects it is that there is nothing to protect it from: nothing here knows a file. The engine
is asked without a chat's name, so that it writes no KV cache of it. The system may still move
memory to its swap space, which is beyond a program's reach.
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
    """The scratch chat, one at the most.

    failed(error): a bug of ours, while it was being forgotten. forget: gives its memory back, once
    nothing is at work on it.
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
        """End the answer, and forget everything. Nothing can be asked afterwards."""
        # Who listened is going away with the window.
        self.generation.blockSignals(True)
        self.generation.stop_all()
        self.context.close()
        self.chats.drafts.forget()
        self.answering.files.forget()
        self.answering.recording.drop()
        # The queue works in order: what was handed in before has become an answer when this comes.
        self.tasks.run(lambda: None, lambda _: self._end(), self.failed.emit, on=STORE)

    def _asked(self, question: StoredMessage) -> None:
        self._chat_id = question.chat_id

    def _end(self) -> None:
        self.generation.stop_all(self._clear)

    def _clear(self) -> None:
        self.tasks.run(self._forget, lambda _: self.deleteLater(), self.failed.emit, on=STORE)
