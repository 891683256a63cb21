"""The actions on chats in the sidebar; those that remove something can be undone or ask first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from app.chats.answers.presenters.generation import Generation
from app.chats.history.presenters.chats import Chats
from app.chats.history.values.chat import Chat
from app.chats.history.values.places import TRASH
from app.kit.look.format import figure
from app.kit.notify import Notifier


class ChatActions(QObject):
    """The actions on chats in the sidebar.

    Signals:
        deleted(ids): Chats were moved to the trash.
        restored(id): *Undo* brought a chat back from the trash.
        copied(id): A copy of a chat was made; its id.
    """

    deleted = Signal(object)
    restored = Signal(str)
    copied = Signal(str)

    def __init__(
        self,
        chats: Chats,
        generation: Generation,
        notifier: Notifier,
        export: Callable[[Sequence[str]], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._chats = chats
        self._generation = generation
        self._notifier = notifier
        self._export = export
        self._reopen: str | None = None
        chats.changed.connect(self._changed)

    def do(self, action: str, target: Sequence[str] | str | None) -> None:
        """Run an action by its name.

        Args:
            action: The name, as rows, menus and keys use it.
            target: The ids of chats, or the id of a folder.
        """
        ids = [target] if isinstance(target, str) else target or ()
        chat_actions: dict[str, Callable[[Sequence[str]], object]] = {
            "pin": lambda ids: self._chats.set_pinned(True, *ids),
            "unpin": lambda ids: self._chats.set_pinned(False, *ids),
            "toggle_pin": self._toggle_pin,
            "archive": self.archive,
            "unarchive": lambda ids: self._chats.unarchive(*ids),
            "restore": lambda ids: self._chats.undelete(*ids),
            "export": self._export,
            "duplicate": lambda ids: self.duplicate(ids[0]),
            "delete": self.delete,
            "purge": self.purge,
            "remove_folder": lambda ids: self.remove_folder(ids[0]),
        }
        if ids:
            chat_actions[action](ids)

    def duplicate(self, chat_id: str) -> None:
        """Copy a chat, so that the user can continue it in another way."""
        title = self.tr("{title} (copy)").format(title=self._title([chat_id]))
        self._chats.duplicate(chat_id, title, self.copied.emit)

    def delete(self, ids: Sequence[str]) -> None:
        """Move chats to the trash."""
        title = self._title(ids)
        for chat_id in ids:
            self._generation.stop(chat_id)
        self._chats.delete(*ids)
        self.deleted.emit(ids)
        if len(ids) == 1:
            words = self.tr("“{title}” was deleted.").format(title=title)
        else:
            words = self.tr("{count} chats were deleted.").format(count=figure(len(ids)))
        self._notifier.offer_undo(words, lambda: self._undelete(ids))

    def archive(self, ids: Sequence[str]) -> None:
        """Move chats to the archive."""
        title = self._title(ids)
        self._chats.archive(*ids)
        if len(ids) == 1:
            words = self.tr("“{title}” is in the archive.").format(title=title)
        else:
            words = self.tr("{count} chats are in the archive.").format(count=figure(len(ids)))
        self._notifier.offer_undo(words, lambda: self._chats.unarchive(*ids))

    def move(self, folder_id: str | None, ids: Sequence[str]) -> None:
        """Move chats into a folder, or out of their folders (None).

        They are unpinned, so that they are listed there.
        """
        chats = self._known(ids)
        pinned = [chat.id for chat in chats if chat.pinned]
        ids_by_folder: dict[str | None, list[str]] = {}
        for chat in chats:
            ids_by_folder.setdefault(chat.folder_id, []).append(chat.id)
        if set(ids_by_folder) == {folder_id} and not pinned:
            return

        def undo() -> None:
            for folder, chat_ids in ids_by_folder.items():
                self._chats.move(folder, *chat_ids)
            self._chats.set_pinned(True, *pinned)

        self._chats.set_pinned(False, *pinned)
        self._chats.move(folder_id, *ids)
        self._notifier.offer_undo(self._moved(folder_id, len(ids)), undo)

    def export_folder(self, folder_id: str) -> None:
        """Export all chats of a folder, including pinned ones."""
        self._export(self._chats.ids_in_folder(folder_id))

    def remove_folder(self, folder_id: str) -> None:
        """Remove a folder and keep its chats."""
        names = {folder.id: folder.name for folder in self._chats.folders()}
        self._chats.remove_folder(folder_id)
        words = self.tr("The folder “{name}” was removed; its chats stay.")
        self._notifier.offer_undo(
            words.format(name=names.get(folder_id, "")),
            lambda: self._chats.put_back_folder(folder_id),
        )

    def purge(self, ids: Sequence[str]) -> None:
        """Delete chats in the trash for good, after asking."""
        if len(ids) == 1:
            headline = self.tr("Delete “{title}” for good?").format(title=self._title(ids))
            warning = self.tr("It cannot be restored after that.")
        else:
            headline = self.tr("Delete {count} chats for good?").format(count=figure(len(ids)))
            warning = self.tr("They cannot be restored after that.")
        self._ask(headline, warning, lambda: self._chats.delete_for_good(*ids))

    def empty_trash(self) -> None:
        """Delete all chats in the trash for good, after asking."""
        count = self._chats.count(TRASH)
        headline = self.tr("Empty the trash?")
        if count == 1:
            warning = self.tr("The chat in it cannot be restored after that.")
        else:
            warning = self.tr("The {count} chats in it cannot be restored after that.")
        if count:
            self._ask(headline, warning.format(count=figure(count)), self._chats.empty_trash)

    def _moved(self, folder_id: str | None, count: int) -> str:
        names = {folder.id: folder.name for folder in self._chats.folders()}
        if folder_id is None:
            return self.tr("Removed from its folder.")
        words = self.tr("Moved to “{name}”.").format(name=names.get(folder_id, ""))
        return words if count == 1 else f"{words} {self.tr('Chats: {count}.').format(count=count)}"

    def _ask(self, headline: str, warning: str, act: Callable[[], object]) -> None:
        self._notifier.confirm(
            headline,
            warning,
            ("deleteForGood", self.tr("Delete for good")),
            ("keep", self.tr("Keep")),
            act,
            careful=True,
        )

    def _toggle_pin(self, ids: Sequence[str]) -> None:
        for chat in self._known(ids):
            self._chats.set_pinned(not chat.pinned, chat.id)

    def _undelete(self, ids: Sequence[str]) -> None:
        self._reopen = ids[0] if len(ids) == 1 else None
        self._chats.undelete(*ids)

    def _changed(self) -> None:
        if self._reopen:
            chat_id, self._reopen = self._reopen, None
            self.restored.emit(chat_id)

    def _title(self, ids: Sequence[str]) -> str:
        return next((chat.title for chat in self._known(ids[:1])), "")

    def _known(self, ids: Sequence[str]) -> list[Chat]:
        chats = (self._chats.chat(chat_id) for chat_id in ids)
        return [chat for chat in chats if chat]
