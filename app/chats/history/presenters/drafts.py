"""Keeps drafts, and saves them while they are written."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.chats.history.store.drafts import DraftStore
from app.kit.tasks.tasks import STORE, Tasks
from app.kit.timer import timer
from engines.errors import UserError

_SAVE_MS = 400
"""How many milliseconds of writing a power cut can lose."""


class Drafts(QObject):
    """The drafts by chat; None stands for the chat that has not begun yet.

    Args:
        save_ms: Milliseconds from the first new words until they are saved, with all that followed.

    Signals:
        failed(error): A draft could not be saved. It lasts as long as the window is open; the next
            words, and closing, try again.
    """

    failed = Signal(Exception)

    def __init__(
        self,
        store: DraftStore,
        tasks: Tasks,
        parent: QObject | None = None,
        save_ms: int = _SAVE_MS,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._tasks = tasks
        self._texts: dict[str | None, str] = {}
        self._unsaved: dict[str | None, str] = {}
        self._pause = timer(self, save_ms, self._hand_in)
        self._closed = False
        tasks.closing.connect(self._close)

    def of(self, chat_id: str | None) -> str:
        """Return the newest text, saved or not."""
        if chat_id not in self._texts:
            self._texts[chat_id] = self._store.of(chat_id)
        return self._texts[chat_id]

    def set_text(self, chat_id: str | None, text: str) -> None:
        """Save this text soon; until then it is kept here."""
        if text != self.of(chat_id):
            self._texts[chat_id] = self._unsaved[chat_id] = text
            if not self._closed and not self._pause.isActive():
                self._pause.start()

    def adopt(self, chat_id: str) -> None:
        """Move the draft of a new chat to the chat that it has become."""
        self.set_text(chat_id, self.of(None))
        self.set_text(None, "")

    def forget(self) -> None:
        """Discard unsaved drafts; nothing more is written."""
        self._pause.stop()
        self._unsaved.clear()

    def _hand_in(self) -> None:
        self._tasks.run(self._save, lambda _: None, self.failed.emit, on=STORE)

    def _save(self) -> None:
        """Save the newest texts when their turn comes, so that no older text is saved last."""
        while self._unsaved:
            chat_id, text = self._unsaved.popitem()
            try:
                self._store.save(chat_id, text)
            except UserError:
                self._unsaved.setdefault(chat_id, text)
                raise

    def _close(self) -> None:
        """Save the last drafts, and only log a failure, as no window is left to show it."""
        self._closed = True
        self._pause.stop()
        try:
            self._save()
        except UserError as error:
            import logging

            logging.getLogger(__name__).warning("Drafts were not saved: %s", error)
