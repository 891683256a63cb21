"""The list of chats, for the window: reading at once, writing on the store's queue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.core.conversation import Chat, StoredMessage
from app.core.export import as_json, as_markdown
from app.services.tasks import STORE, Tasks
from app.store.chats import ChatStore
from app.store.folder import write_whole
from engines.types import MtpMode


class Chats(QObject):
    """Reading takes milliseconds and never waits for a writer (see `store.db`)."""

    changed = Signal()
    exported = Signal(Path)
    failed = Signal(Exception)

    def __init__(self, store: ChatStore, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._tasks = tasks
        self._chosen: dict[str, MtpMode] = {}

    def list(self, words: str = "") -> list[Chat]:
        """Chats for the sidebar, the last used first; those that hold the words, if any."""
        return self._store.search(words) if words.strip() else self._store.chats()

    def path(self, chat_id: str) -> tuple[StoredMessage, ...]:
        """The messages that a chat shows. Raises ChatNotFound."""
        return self._store.path(chat_id)

    def mtp(self, chat_id: str) -> MtpMode | None:
        """How the chat's switch stands, also before that is saved; None if it was never set."""
        return self._chosen.get(chat_id) or self._store.mtp(chat_id)

    def set_mtp(self, chat_id: str, mtp: MtpMode) -> None:
        """Saved on the store's queue; what could not be saved still holds in this window."""
        self._chosen[chat_id] = mtp

        def saved(_: None) -> None:
            if self._chosen.get(chat_id) == mtp:
                del self._chosen[chat_id]

        self._tasks.run(
            lambda: self._store.set_mtp(chat_id, mtp), saved, self.failed.emit, on=STORE
        )

    def rename(self, chat_id: str, title: str) -> None:
        self._write(lambda: self._store.rename(chat_id, title))

    def delete(self, chat_id: str) -> None:
        self._write(lambda: self._store.delete(chat_id))

    def undelete(self, chat_id: str) -> None:
        self._write(lambda: self._store.undelete(chat_id))

    def export(self, chat_id: str, path: Path) -> None:
        """Write a chat to a file: as JSON where its name ends so, else as Markdown.

        Emits exported(path), or failed.
        """

        def write() -> Path:
            chat = self._store.chat(chat_id)
            if path.suffix.lower() == ".json":
                write_whole(path, as_json(chat, self._store.messages(chat.id)))
            else:
                write_whole(path, as_markdown(chat, self._store.path(chat.id)))
            return path

        self._tasks.run(write, self.exported.emit, self.failed.emit, on=STORE)

    def _write(self, change: Callable[[], None]) -> None:
        self._tasks.run(change, lambda _: self.changed.emit(), self.failed.emit, on=STORE)
