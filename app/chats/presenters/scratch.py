"""A chat of which nothing is saved: its services have stores of their own, in memory.

Nothing here knows a file, so there is nothing on disk to protect. The engine gets no chat id, so it
writes no KV cache for it. The system can still move memory to its swap space, which a program
cannot prevent.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.chats.presenters.chat_presenters import ChatPresenters
from app.kit.tasks.tasks import STORE, Tasks


class Scratch(QObject):
    """The scratch chat; there is at most one.

    Args:
        forget: Releases its memory, once nothing works on it any more.

    Attributes:
        presenters: The presenters of its page.
        has_messages: Whether a question was asked.

    Signals:
        failed(error): A bug in Hearth while the chat was being removed.
    """

    failed = Signal(Exception)

    def __init__(
        self,
        presenters: ChatPresenters,
        forget: Callable[[], None],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.presenters = presenters
        self.tasks = tasks
        self.has_messages = False
        self._forget = forget
        generation = presenters.generation
        for part in (presenters.chats, generation, presenters.open_chat, presenters.context):
            part.setParent(self)
        generation.asked.connect(self._question_asked)

    def close(self) -> None:
        """Stop the answers and remove everything. Nothing can be asked afterwards."""
        # The listeners go away with the window.
        presenters = self.presenters
        presenters.generation.blockSignals(True)
        presenters.generation.stop_all()
        presenters.context.close()
        presenters.chats.drafts.forget()
        presenters.files.forget()
        presenters.recording.discard()
        # The queue works in order: a question handed in earlier already has its answer when this
        # runs.
        self.tasks.run(lambda: None, lambda _: self._end(), self.failed.emit, on=STORE)

    def _question_asked(self) -> None:
        self.has_messages = True

    def _end(self) -> None:
        self.presenters.generation.stop_all(self._clear)

    def _clear(self) -> None:
        self.tasks.run(self._forget, lambda _: self.deleteLater(), self.failed.emit, on=STORE)
