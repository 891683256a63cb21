"""The lists of chats for the window: read at once, written on the store's queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.chats.history.presenters.drafts import Drafts
from app.chats.history.services import remove_for_good
from app.chats.history.store.chat_lists import ChatLists
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.folders import FolderStore, new_folder
from app.chats.history.values.chat import ChatMark, ListedChat
from app.chats.history.values.places import Folder, Place, RemovedFolder
from app.kit.tasks.tasks import STORE, Tasks

if TYPE_CHECKING:
    from app.chats.history.values.conversation import StoredMessage
    from engines.types import MtpMode


class Chats(QObject):
    """The chats. Reading takes milliseconds, however many there are, and waits for no writer.

    Attributes:
        drafts: The drafts of chats.

    Args:
        forget_states: Removes the KV cache that an engine has saved for a chat.
        forget_files: Removes the copies of files that no chat uses any more.

    Signals:
        changed(): Titles, order or places have changed.
        failed(error): A change could not be saved.
    """

    changed = Signal()
    failed = Signal(Exception)

    def __init__(
        self,
        store: ChatStore,
        lists: ChatLists,
        folders: FolderStore,
        drafts: Drafts,
        forget_states: Callable[[str], None],
        tasks: Tasks,
        parent: QObject | None = None,
        *,
        forget_files: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._lists = lists
        self._folders = folders
        self.drafts = drafts
        self._forget_states = forget_states
        self._forget_files = forget_files
        self._tasks = tasks
        self._chosen: dict[str, MtpMode] = {}
        self._removed: dict[str, RemovedFolder] = {}

    def page(self, place: Place, offset: int, limit: int) -> list[ListedChat]:
        """Return a page of chats, the newest first, as `ChatLists.page` sorts them."""
        return self._lists.page(place, offset, limit)

    def count(self, place: Place) -> int:
        """Return the number of chats in a place of the sidebar."""
        return self._lists.count(place)

    def count_since(self, place: Place, when: float) -> int:
        """Count the chats used at `when` or later, in seconds since 1970."""
        return self._lists.count_since(place, when)

    def marks(self, place: Place) -> Mapping[ChatMark, int]:
        """Count the chats of a place by their marks, the strongest first."""
        return self._lists.marks(place)

    def chat(self, chat_id: str) -> ListedChat | None:
        """Return a chat from any place, even the trash; None if it was removed for good."""
        return self._lists.find(chat_id)

    def path(self, chat_id: str) -> tuple[StoredMessage, ...]:
        """Return the messages that a chat shows. Raises ChatNotFound."""
        return self._store.path(chat_id)

    def mtp(self, chat_id: str) -> MtpMode | None:
        """Return the chat's MTP mode, including an unsaved one; None if it was never set."""
        return self._chosen.get(chat_id) or self._store.mtp(chat_id)

    def set_mtp(self, chat_id: str, mtp: MtpMode) -> None:
        """Set the chat's MTP mode; it applies in this window even if saving fails."""
        self._chosen[chat_id] = mtp

        def saved(_: None) -> None:
            if self._chosen.get(chat_id) == mtp:
                del self._chosen[chat_id]

        self._tasks.run(
            lambda: self._store.set_mtp(chat_id, mtp), saved, self.failed.emit, on=STORE
        )

    def rename(self, chat_id: str, title: str) -> None:
        """Set the user's title, which the model does not replace any more."""
        self._write(lambda: self._store.rename(chat_id, title))

    def duplicate(self, chat_id: str, title: str, done: Callable[[str], object]) -> None:
        """Copy a chat with all its messages.

        Args:
            done: Called with the id of the copy.
        """

        def copied(copy_id: str) -> None:
            self.changed.emit()
            done(copy_id)

        self._tasks.run(
            lambda: self._store.duplicate(chat_id, title), copied, self.failed.emit, on=STORE
        )

    def set_pinned(self, pinned: bool, *chat_ids: str) -> None:
        """Pin chats, or unpin them."""
        self._write(lambda: self._lists.set_pinned(chat_ids, pinned))

    def set_unread(self, chat_id: str, unread: bool) -> None:
        """Record whether the newest answer is unread; a failure to save this is ignored."""
        self._tasks.run(
            lambda: self._lists.set_unread(chat_id, unread),
            lambda _: self.changed.emit(),
            lambda _: None,
            on=STORE,
        )

    def archive(self, *chat_ids: str) -> None:
        """Move chats to the archive."""
        self._write(lambda: self._lists.set_archived(chat_ids, True))

    def unarchive(self, *chat_ids: str) -> None:
        """Move chats out of the archive."""
        self._write(lambda: self._lists.set_archived(chat_ids, False))

    def move(self, folder_id: str | None, *chat_ids: str) -> None:
        """Move chats into a folder or out of it; to undo, move each to its old `Chat.folder_id`."""
        self._write(lambda: self._lists.move(chat_ids, folder_id))

    def delete(self, *chat_ids: str) -> None:
        """Move chats to the trash, where they stay for 30 days."""
        self._write(lambda: self._store.delete(*chat_ids))

    def undelete(self, *chat_ids: str) -> None:
        """Restore chats to where they were: pinned, in their folder, or archived."""
        self._write(lambda: self._store.undelete(*chat_ids))

    def delete_for_good(self, *chat_ids: str) -> None:
        """Remove chats that are in the trash; this cannot be undone."""
        self._write(lambda: self._remove(chat_ids))

    def empty_trash(self) -> None:
        """Delete all chats in the trash for good."""
        self._write(lambda: self._remove(self._store.deleted()))

    def _remove(self, chat_ids: Iterable[str]) -> None:
        remove_for_good(self._store, self._forget_states, self._forget_files, chat_ids)

    def folders(self) -> list[Folder]:
        """Return the folders, ordered by position."""
        return self._folders.folders()

    def make_folder(self, name: str, *chat_ids: str) -> str:
        """Create a folder, move chats into it, and return its id at once."""
        folder = new_folder(name)

        def write() -> None:
            self._folders.add(folder)
            self._lists.move(chat_ids, folder.id)

        self._write(write)
        return folder.id

    def ids_in_folder(self, folder_id: str) -> tuple[str, ...]:
        """Return the ids of a folder's chats, including pinned ones, the last used first."""
        return self._lists.ids_in_folder(folder_id)

    def rename_folder(self, folder_id: str, name: str) -> None:
        """Give a folder another name."""
        self._write(lambda: self._folders.rename(folder_id, name))

    def remove_folder(self, folder_id: str) -> None:
        """Remove a folder but not its chats; `put_back_folder` undoes it in this window."""

        def write() -> None:
            removed = self._folders.remove(folder_id)
            if removed is not None:
                self._removed[folder_id] = removed

        self._write(write)

    def put_back_folder(self, folder_id: str) -> None:
        """Restore a removed folder with its chats, if it was removed in this window."""

        def write() -> None:
            removed = self._removed.pop(folder_id, None)
            if removed is not None:
                self._folders.put_back(removed)

        self._write(write)

    def _write(self, change: Callable[[], None]) -> None:
        self._tasks.run(change, lambda _: self.changed.emit(), self.failed.emit, on=STORE)
