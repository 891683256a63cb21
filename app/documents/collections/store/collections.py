"""The collections in the database: their names, and the paths that were added to them."""

from __future__ import annotations

import os
import sqlite3
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

from app.base.db import Database
from app.documents.collections.values import DocumentCollection


class CollectionStore:
    """The table of collections. Each method is one transaction, safe from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collections(self) -> list[DocumentCollection]:
        """Return all collections, sorted by name."""
        with self._database.read() as db:
            return _collections(db, "ORDER BY name COLLATE NOCASE", ())

    def named(self, called: str) -> DocumentCollection | None:
        """Return the collection with this id, or else with this name."""
        with self._database.read() as db:
            found = _collections(db, "WHERE id = ?", (called,))
            found += _collections(db, "WHERE name = ? COLLATE NOCASE", (called,))
        return found[0] if found else None

    def create(self, name: str) -> DocumentCollection | None:
        """Create an empty collection; None if the name is taken."""
        collection = DocumentCollection(uuid.uuid4().hex, name)
        with self._database.write() as db:
            done = db.execute(
                "INSERT OR IGNORE INTO collections (id, name, created) VALUES (?, ?, ?)",
                (collection.id, name, time.time()),
            )
            return collection if done.rowcount else None

    def rename(self, collection_id: str, name: str) -> bool:
        """Rename a collection; return whether the name was free."""
        with self._database.write() as db:
            done = db.execute(
                "UPDATE OR IGNORE collections SET name = ? WHERE id = ?", (name, collection_id)
            )
            return bool(done.rowcount)

    def pause(self, collection_id: str, *, paused: bool) -> None:
        """Pause the indexing of a collection, or resume it."""
        with self._database.write() as db:
            db.execute(
                "UPDATE collections SET paused = ? WHERE id = ?", (int(paused), collection_id)
            )

    def add(self, collection_id: str, paths: Iterable[Path]) -> None:
        """Add files and folders to a collection; those that it has stay once."""
        with self._database.write() as db:
            db.executemany(
                "INSERT OR IGNORE INTO collection_paths (collection_id, path, added)"
                " VALUES (?, ?, ?)",
                [(collection_id, os.fsencode(path), time.time()) for path in paths],
            )

    def remove_path(self, collection_id: str, path: Path) -> None:
        """Remove a file or folder from a collection."""
        with self._database.write() as db:
            db.execute(
                "DELETE FROM collection_paths WHERE collection_id = ? AND path = ?",
                (collection_id, os.fsencode(path)),
            )

    def remove(self, collection_id: str) -> None:
        """Remove a collection, also from the chats and assistants that use it."""
        with self._database.write() as db:
            db.execute("DELETE FROM collections WHERE id = ?", (collection_id,))


def _collections(
    db: sqlite3.Connection, condition: str, values: tuple[str, ...]
) -> list[DocumentCollection]:
    rows = db.execute(f"SELECT id, name, paused FROM collections {condition}", values).fetchall()  # noqa: S608  our own words
    return [
        DocumentCollection(
            row["id"],
            row["name"],
            tuple(
                Path(os.fsdecode(path_row["path"]))
                for path_row in db.execute(
                    "SELECT path FROM collection_paths WHERE collection_id = ?"
                    " ORDER BY added, path",
                    (row["id"],),
                )
            ),
            bool(row["paused"]),
        )
        for row in rows
    ]
