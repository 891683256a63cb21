"""Opens the data folder, and creates the services that the window's first painting needs.

Part of the composition root. The other modules of `wiring` create the parts that take longer to
load.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from app.base.db import Database
from app.base.errors import CannotSave, DatabaseDamaged, DiskFull
from app.base.folder import DataFolder
from app.base.snapshots import Snapshots
from app.base.units import MB
from app.chats.history.store.chat_lists import ChatLists
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.folders import FolderStore
from app.settings.store import SettingsFile

if TYPE_CHECKING:
    from app.chats.history.presenters.chats import Chats
    from app.kit.tasks.tasks import Tasks
    from app.settings.presenters import SettingsService
    from engines.llamacpp.resume.states import StateFolder


@dataclass(frozen=True, eq=False)
class OpenStores:
    """The open stores that the sidebar needs. The owner closes the database.

    Attributes:
        hindered: Why nothing can be saved at present, so that the stores can only be read; None if
            it can.
    """

    folder: DataFolder
    settings: SettingsFile
    database: Database
    chats: ChatStore
    chat_lists: ChatLists
    folders: FolderStore
    hindered: CannotSave | None

    @cached_property
    def states(self) -> StateFolder:
        """The KV states of chats on disk."""
        from engines.llamacpp.resume.states import StateFolder

        return StateFolder(self.folder.states, self.settings.read().kv_disk * MB)

    def tidy(self) -> None:
        """Remove the temporary files of KV states that a killed process left."""
        if self.folder.states.exists():
            _ = self.states  # creating it removes them

    def remove_unused_files(self) -> None:
        """Remove the copies of attached files that no chat uses any more."""
        if self.folder.attachments.exists():
            from app.documents.store.documents import DocumentStore, FileCopies

            copies = FileCopies(self.folder.attachments)
            copies.remove_unused(DocumentStore(self.database).hashes())


def open_database(folder: DataFolder) -> Database:
    """Open the database. Raises AppError; DatabaseDamaged names a copy that can be restored."""
    folder.require_own()
    snapshots = Snapshots(folder.snapshots, folder.database)
    try:
        snapshots.require_chats(folder.search)
        return Database(folder.database)
    except DatabaseDamaged as error:
        raise snapshots.with_copy(error) from error


def put_back(folder: DataFolder, copy: str) -> None:
    """Restore the copy of all chats that has this name. Raises AppError."""
    folder.prepare()
    snapshots = Snapshots(folder.snapshots, folder.database)
    snapshots.restore(snapshots.find(copy), datetime.now().astimezone())


def open_data(folder: DataFolder) -> OpenStores:
    """Open the data folder. Raises AppError, and then leaves nothing open.

    If nothing can be written, existing data is opened for reading. On a full disk, files that can
    be created again are removed first, so that there is room to delete something.
    """
    hindered: CannotSave | None = None
    try:
        folder.prepare()
    except CannotSave as error:
        if not folder.database.exists():
            raise
        if isinstance(error, DiskFull):
            folder.free_space()
        hindered = error
    database = open_database(folder)
    return OpenStores(
        folder,
        SettingsFile(folder.settings),
        database,
        ChatStore(database),
        ChatLists(database),
        FolderStore(database),
        hindered or database.write_error,
    )


class FirstPresenters(NamedTuple):
    """The presenters that the window needs from its first moment. The owner closes `tasks`."""

    tasks: Tasks
    settings: SettingsService
    chats: Chats


def first_presenters(opened: OpenStores) -> FirstPresenters:
    """Create the first presenters. Qt is imported here, as in `wiring.window`."""
    from app.chats.history.presenters.chats import Chats
    from app.chats.history.presenters.drafts import Drafts
    from app.chats.history.store.drafts import DraftStore
    from app.kit.tasks.tasks import Tasks
    from app.settings.presenters import SettingsService

    settings = SettingsService(opened.settings)
    tasks = Tasks()
    chats = Chats(
        opened.chats,
        opened.chat_lists,
        opened.folders,
        Drafts(DraftStore(opened.database), tasks),
        lambda chat_id: opened.states.forget(chat_id),  # noqa: PLW0108 - read when needed
        tasks,
        forget_files=opened.remove_unused_files,
    )
    return FirstPresenters(tasks, settings, chats)
