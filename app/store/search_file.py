"""The file of the search index: made, opened, and made anew where it is of no use any more.

It is a file of its own because all of it can be made again from the chats: it needs no copies, no
migrations, and what it writes never holds up a chat.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from app.core.errors import SearchBroken
from app.store.search_terms import TABLES

LAYOUT = 1
"""Counts up when the tables, or the words that go into them, are made in another way."""

_BUSY_S = 5.0
_WORDS = "USING fts5(words, parts, tokenize='ascii', prefix='2 3', columnsize=0)"
_USELESS = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_log = logging.getLogger(__name__)


class SearchFile:
    """One connection to read with and one to write with, each used by one thread at a time.

    A file that is damaged or of another layout is removed and begun anew, with empty tables.
    Raises SearchBroken for what else is wrong with the disk, and where the file was damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reading = threading.RLock()
        self._writing = threading.RLock()
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            raise _broken(f"The system says: {error}.") from error

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        with self._reading, self._explained():
            yield self._reader

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: everything in the block is saved at its end, or nothing."""
        with self._writing, self._explained():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.rollback()
                raise
            self._writer.commit()

    def close(self) -> None:
        with self._reading, self._writing:
            self._reader.close()
            self._writer.close()

    def _open(self) -> None:
        layout = self._layout()
        if layout not in (0, LAYOUT):
            remove_search(self._path)
            layout = 0
        self._reader, self._writer = self._connect(), self._connect()
        if layout == 0:
            self._reader.execute("PRAGMA journal_mode=WAL")
            with self.write() as db:
                make_tables(db)
                db.execute(f"PRAGMA user_version={LAYOUT}")

    def _layout(self) -> int | None:
        """That of the file, 0 for a new one; None for a file that cannot be read."""
        with closing(sqlite3.connect(self._path, timeout=_BUSY_S)) as db:
            try:
                return int(db.execute("PRAGMA user_version").fetchone()[0])
            except sqlite3.DatabaseError as error:
                if _is_useless(error):
                    return None
                raise

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if not _is_useless(error):
                raise _broken(f"The system says: {error}.") from error
            _log.warning("the search index is made anew: %s", error)
            with self._reading, self._writing:
                self.close()
                remove_search(self._path)
                self._open()
            why = "The file of the search was damaged and is being made again; your chats are safe."
            raise _broken(why) from error


def make_tables(db: sqlite3.Connection) -> None:
    """In place of those that are there."""
    for table in ("state", "messages", "chats", "inside", "terms"):
        db.execute(f"DROP TABLE IF EXISTS {table}")
    db.execute("CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT")
    db.execute(f"CREATE VIRTUAL TABLE messages {_WORDS}")
    db.execute(f"CREATE VIRTUAL TABLE chats {_WORDS}")
    for table in TABLES:
        db.execute(table)


def remove_search(path: Path) -> None:
    """Remove the index with what SQLite keeps beside it; it is made again when it is opened."""
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _broken(why: str) -> SearchBroken:
    return SearchBroken("The chats could not be searched.", why, "Try again in a while.")


def _is_useless(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _USELESS
