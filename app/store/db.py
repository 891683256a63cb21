"""The database file: opening, migrating, transactions; a connection for each thread."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from app.core.errors import (
    AppError,
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseNewer,
    DataFolderReadOnly,
)
from app.store.folder import disk_full, explained
from app.store.migrations import MIGRATIONS
from engines.private import make_private_file

MEMORY: Final = Path(":memory:")
"""Where a database is that no file holds."""

_BUSY_S = 5.0


def connect(path: Path) -> sqlite3.Connection:
    """Open a database, for us alone, in which what is deleted is written over with zeros.

    So SQLite does in some builds by itself, and not in others.
    """
    if path != MEMORY and not path.exists():
        with explained(path):
            make_private_file(path)
    connection = sqlite3.connect(
        path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA secure_delete=ON")
    return connection


class Database:
    """One SQLite file in WAL mode, so that reading never waits for writing.

    Every commit reaches the disk (synchronous=FULL): a question that was sent survives a power
    cut. The owner calls `close`, after all threads that used the database have ended.

    Raises on opening: DatabaseNewer, DatabaseDamaged, DataFolderReadOnly, DiskFull, DatabaseBusy.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: list[sqlite3.Connection] = []
        with self._explained():
            self._migrate()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection to read with; rows have names."""
        with self._explained():
            yield self._connection()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: everything in the block is saved at its end, or nothing."""
        with self._explained():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def close(self) -> None:
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._open()
            self._local.connection = connection
            with self._lock:
                self._connections.append(connection)
        return connection

    def _open(self) -> sqlite3.Connection:
        connection = connect(self._path)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def _migrate(self) -> None:
        version = self._version_on_disk()
        if version > len(MIGRATIONS):
            raise DatabaseNewer(
                "These chats were written by a newer Hearth.",
                f"The database {self._path} has version {version}; this Hearth knows versions "
                f"up to {len(MIGRATIONS)} and leaves it untouched.",
                "Update Hearth, or choose another data folder with --data-dir.",
            )
        if version == len(MIGRATIONS):
            return
        if version > 0:
            self._back_up(version)
        with self.write() as db:
            # Another process may have migrated while this one waited for the write lock.
            done = int(db.execute("PRAGMA user_version").fetchone()[0])
            for step in MIGRATIONS[done:]:
                step(db)
            db.execute(f"PRAGMA user_version={len(MIGRATIONS)}")

    def _version_on_disk(self) -> int:
        """Read without opening for writing, so that a newer file is left as it is."""
        if not self._path.exists():
            return 0
        uri = f"{self._path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_S)) as db:
            return int(db.execute("PRAGMA user_version").fetchone()[0])

    def _back_up(self, version: int) -> None:
        copy = self._path.with_name(f"{self._path.stem}.before-v{version + 1}.db")
        copy.unlink(missing_ok=True)
        with explained(copy):
            make_private_file(copy)
        with self.read() as db:
            db.execute("VACUUM INTO ?", (str(copy),))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._explain(error) from error

    def _explain(self, error: sqlite3.DatabaseError) -> Exception:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return disk_full(self._path.parent)
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return DataFolderReadOnly(
                "Hearth cannot write to its database.",
                f"The system does not allow writing to {self._path}.",
                "Allow writing to that file and its folder, or choose another with --data-dir.",
            )
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return DatabaseDamaged(
                "The database of chats is damaged.",
                f"{self._path} is not a whole SQLite file any more; Hearth has not changed it.",
                "Put back a copy of it, or move the file away to start with an empty one.",
            )
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return DatabaseBusy(
                "The database of chats is busy.",
                "Another program has been writing to it for several seconds.",
                "Wait a moment, then try again.",
            )
        if code == sqlite3.SQLITE_IOERR:
            return AppError(
                "The disk failed while chats were being read or written.",
                f"The system says: {error}.",
                "Check the disk and its free space, then try again.",
            )
        return error
