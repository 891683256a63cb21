"""Folders of chats in the database."""

from __future__ import annotations

import sqlite3
import time

from app.base.db import Database
from app.base.ids import new_id
from app.chats.history.store.rows import insert_row
from app.chats.history.values.places import Folder, RemovedFolder


class FolderStore:
    """The table of folders. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def folders(self) -> list[Folder]:
        """Return the folders, ordered by position."""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM folders ORDER BY position, created").fetchall()
        return [_folder_of(row) for row in rows]

    def add(self, folder: Folder) -> None:
        """Add a folder at the end, ignoring its `position`."""
        with self._database.write() as db:
            add_folder(db, folder)

    def rename(self, folder_id: str, name: str) -> None:
        """Give a folder another name."""
        with self._database.write() as db:
            db.execute("UPDATE folders SET name = ? WHERE id = ?", (name, folder_id))

    def remove(self, folder_id: str) -> RemovedFolder | None:
        """Remove a folder but not its chats; return None if it was removed already."""
        with self._database.write() as db:
            row = db.execute("SELECT * FROM folders WHERE id = ?", (folder_id,)).fetchone()
            if row is None:
                return None
            inside = db.execute("SELECT id FROM chats WHERE folder_id = ?", (folder_id,))
            removed = RemovedFolder(_folder_of(row), tuple(chat["id"] for chat in inside))
            db.execute("DELETE FROM folders WHERE id = ?", (folder_id,))
        return removed

    def put_back(self, removed: RemovedFolder) -> None:
        """Restore a removed folder, with those of its chats that are still in no folder."""
        folder = removed.folder
        with self._database.write() as db:
            insert_row(db, "folders", folder._asdict())
            db.executemany(
                "UPDATE chats SET folder_id = ? WHERE id = ? AND folder_id IS NULL",
                [(folder.id, chat_id) for chat_id in removed.chat_ids],
            )


def add_folder(db: sqlite3.Connection, folder: Folder) -> None:
    """Add a folder at the end, in a transaction of the caller."""
    last = db.execute("SELECT coalesce(max(position) + 1, 0) FROM folders").fetchone()[0]
    insert_row(db, "folders", folder._replace(position=last)._asdict())


def new_folder(name: str) -> Folder:
    """Create a folder value that is not stored yet."""
    return Folder(new_id(), name.strip(), 0, time.time())


def _folder_of(row: sqlite3.Row) -> Folder:
    return Folder(*(row[name] for name in Folder._fields))
