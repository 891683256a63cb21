"""Copies of the database, one a day, and putting one of them back."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.core.errors import SnapshotUnusable
from app.store.db import Database, connect
from app.store.folder import disk_full, explained
from app.store.migrations import MIGRATIONS
from engines.cancel import CancelToken
from engines.private import make_private_file, make_private_folder

_NAME = "chats-%Y-%m-%d.db"
_BEFORE = "before-restore-%Y-%m-%d-%H%M%S.db"
_LOOK_EVERY = 100_000
"""Steps of SQLite's machine between two looks at whether a copy is still wanted."""


@dataclass(frozen=True)
class Snapshot:
    """made: in seconds since 1970. size: bytes."""

    path: Path
    made: float
    size: int


class Snapshots:
    """Of one database, in one folder. May be used from any thread, by one at a time."""

    def __init__(self, folder: Path, database: Path) -> None:
        self._folder = folder
        self._database = database

    def list(self) -> list[Snapshot]:
        """The newest first."""
        files = [(file, file.stat()) for file in self._folder.glob("*.db")]
        found = [Snapshot(file, stat.st_mtime, stat.st_size) for file, stat in files]
        return sorted(found, key=lambda snapshot: snapshot.made, reverse=True)

    def is_due(self, now: datetime) -> bool:
        """Whether there is none of this day yet. now: in local time."""
        return not (self._folder / now.strftime(_NAME)).exists()

    def take(self, now: datetime, keep: int, cancel: CancelToken) -> Path | None:
        """Copy the database as it is now; None if that was cancelled, then nothing is left of it.

        The copy is checked, and has its name only once it is whole and on the disk. Of the daily
        ones so many are kept. Raises DiskFull, DataFolderReadOnly or SnapshotUnusable.
        """
        taken = self._copy(now.strftime(_NAME), cancel)
        if taken is not None:
            # One with a later date is of a clock that was wrong, and the first to go.
            newest_first = sorted(
                self._folder.glob("chats-*.db"),
                key=lambda file: (file.name <= taken.name, file.name),
                reverse=True,
            )
            for old in newest_first[keep:]:
                old.unlink(missing_ok=True)
            # What a crash in the middle of a copy has left, on whichever day.
            for left in self._folder.glob("chats-*.part*"):
                left.unlink(missing_ok=True)
        return taken

    def restore(self, source: Path, now: datetime) -> Path | None:
        """Put the chats of this file in the place of the present ones; returns where those are.

        Other windows and terminals see the one or the other, never a mixture. The file may be of
        an older Hearth. Raises SnapshotUnusable before anything has changed.
        """
        with _opened(source) as db:
            _require_sound(db, source)
            kept = self._copy(now.strftime(_BEFORE), CancelToken())
            with closing(connect(self._database)) as target:
                db.backup(target)
        Database(self._database).close()
        return kept

    def _copy(self, name: str, cancel: CancelToken) -> Path | None:
        path = self._folder / name
        partial = path.with_suffix(".part")
        with explained(self._folder):
            make_private_folder(self._folder)
            partial.unlink(missing_ok=True)
            make_private_file(partial)
        try:
            with closing(connect(self._database)) as db:
                db.set_progress_handler(lambda: cancel.cancelled, _LOOK_EVERY)
                db.execute("VACUUM INTO ?", (str(partial),))
            with closing(connect(partial)) as copy:
                copy.set_progress_handler(lambda: cancel.cancelled, _LOOK_EVERY)
                _require_sound(copy, partial)
                # Rows have other numbers in a copy, so no search index goes with it.
                copy.execute("DELETE FROM kept WHERE name = 'history'")
            with explained(self._folder):
                # SQLite leaves it to its caller to bring such a copy to the disk.
                with partial.open("rb+") as file:
                    os.fsync(file.fileno())
                partial.replace(path)
        except sqlite3.DatabaseError as error:
            code = error.sqlite_errorcode & 0xFF
            if code == sqlite3.SQLITE_INTERRUPT:
                return None
            if code == sqlite3.SQLITE_FULL:
                raise disk_full(self._folder) from error
            raise _unusable(path, f"The system says: {error}.") from error
        finally:
            partial.unlink(missing_ok=True)
        return path


def _opened(source: Path) -> closing[sqlite3.Connection]:
    if not source.is_file():
        raise _unusable(source, "There is no such file.")
    uri = f"{source.absolute().as_uri()}?mode=ro"
    return closing(sqlite3.connect(uri, uri=True))


def _require_sound(db: sqlite3.Connection, path: Path) -> None:
    try:
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        db.execute("SELECT id, title FROM chats LIMIT 1")
        found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_INTERRUPT:
            raise
        raise _unusable(path, f"It is not a database of chats: {error}.") from error
    if version > len(MIGRATIONS):
        raise _unusable(path, "It was written by a newer Hearth; update Hearth first.")
    if found != "ok":
        raise _unusable(path, f"The file is damaged: {found}.")


def _unusable(path: Path, why: str) -> SnapshotUnusable:
    return SnapshotUnusable(
        f"The copy {path.name} cannot be used.", why, "`hearth chats restore list` shows all."
    )
