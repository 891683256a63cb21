"""The user's actions on a collection, from its card and from its page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.documents.collections.values import LONGEST_NAME
from app.kit.notify import Notifier
from app.kit.widgets.form import ask_name

if TYPE_CHECKING:
    from app.documents.collections.presenters import Collections
    from app.documents.collections.values import CollectionState, DocumentCollection


class CollectionActions(QObject):
    """The actions of a collection. Where they need an answer, they ask the user first.

    Args:
        collections: The collections.
        notifier: Shows errors and questions.
        chat: Starts a chat about the collection with this id.
        page: The page that shows the collections.
    """

    def __init__(
        self,
        collections: Collections,
        notifier: Notifier,
        chat: Callable[[str], object],
        page: QWidget,
    ) -> None:
        super().__init__(page)
        self._collections = collections
        self._notifier = notifier
        self.chat = chat
        self._page = page

    def add(self, collection: str, paths: Sequence[Path]) -> None:
        """Add files and folders to a collection."""
        self._collections.add(collection, tuple(paths))

    def turn(self, state: CollectionState) -> None:
        """Pause the reading of a collection, or go on with it."""
        paused = state.collection.paused
        (self._collections.resume if paused else self._collections.pause)(state.collection.id)

    def remove_path(self, collection: str, path: Path) -> None:
        """Remove an added file or folder from a collection."""
        self._collections.remove_path(collection, path)
        text = self.tr("“{name}” is no longer in the collection. It was not changed.")
        self._notifier.offer_undo(
            text.format(name=path.name), lambda: self._collections.add(collection, (path,))
        )

    def rename(self, collection: DocumentCollection) -> None:
        """Ask for a new name, and rename the collection."""
        ask_name(
            self._page.window(),
            "renameCollection",
            self.tr("Rename the collection"),
            partial(self._collections.rename, collection.id),
            self._notifier.error,
            longest=LONGEST_NAME,
            text=collection.name,
        )

    def remove(self, collection: DocumentCollection, removed: Callable[[], object]) -> None:
        """Ask, then delete the collection and call `removed`; the files stay."""

        def remove() -> None:
            self._collections.remove(collection.id)
            removed()

        self._notifier.confirm(
            self.tr("Remove “{name}”?").format(name=collection.name),
            self.tr(
                "Hearth forgets what it has read, and chats can no longer be asked about it. "
                "Your files are not deleted; they stay where they are."
            ),
            ("confirmRemoveCollection", self.tr("Remove")),
            ("keepCollection", self.tr("Keep it")),
            remove,
        )
