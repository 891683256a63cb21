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

from app.core.errors import AppError, SearchBroken
from app.store.db import BESIDE, MEMORY, connect
from app.store.search_terms import TABLES

LAYOUT = 2
"""Counts up when the tables, or the words that go into them, are made in another way."""

_WORDS = "USING fts5(words, parts, tokenize='ascii', prefix='2 3', columnsize=0)"
_INDEXES = ("messages", "chats", "inside")
_FORGETS = sqlite3.sqlite_version_info >= (3, 42)
"""Whether this SQLite can take a word out of an index at once, instead of crossing it out."""
_MERGED = 500
"""Pages of an index that are written anew in one go."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_USELESS = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_log = logging.getLogger(__name__)


class SearchFile:
    """One connection to read with and one to write with, each used by one thread at a time.

    A file that cannot be read or is of another layout is removed and begun anew, with empty
    tables; where there can be no file, the index is in memory as long as it is open.
    Raises SearchBroken for what else is wrong with the disk, and where the file was damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reading = threading.RLock()
        self._writing = threading.RLock()
        try:
            self._open()
        except (sqlite3.DatabaseError, AppError) as error:
            if _is(error, _BUSY):
                raise _broken(f"The system says: {error}.") from error
            _log.warning("the search index is made anew: %s", error)
            self._open_another()

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

    def merge(self) -> bool:
        """Write a part of the indexes anew, without the words that are crossed out in them.

        Whether there may be more of them; nothing where words are taken out at once.
        """
        if _FORGETS:
            return False
        merged = 0
        with self.write() as db:
            for table in _INDEXES:
                before = db.total_changes
                for pages in (-_MERGED, _MERGED):
                    db.execute(
                        f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)",  # noqa: S608  our own words
                        (pages,),
                    )
                # Two changes are those of the orders themselves.
                merged += db.total_changes - before - 2
        return merged > 2

    def _open(self) -> None:
        layout = self._layout()
        if layout not in (0, LAYOUT):
            remove_search(self._path)
            layout = 0
        self._reader = self._connect()
        self._writer = self._reader if self._path == MEMORY else self._connect()
        if layout == 0:
            self._reader.execute("PRAGMA journal_mode=WAL")
            with self.write() as db:
                make_tables(db)
                db.execute(f"PRAGMA user_version={LAYOUT}")

    def _open_another(self) -> None:
        """In place of one that cannot be opened."""
        try:
            remove_search(self._path)
            self._open()
        except (sqlite3.DatabaseError, AppError, OSError) as error:
            _log.warning("the search index is kept in memory: %s", error)
            self._path, self._reading = MEMORY, self._writing
            self._open()

    def _layout(self) -> int:
        """That of the file, 0 for a new one, less for one that cannot be read."""
        if self._path == MEMORY:
            return 0
        with closing(connect(self._path)) as db:
            try:
                layout = int(db.execute("PRAGMA user_version").fetchone()[0])
                for table in _INDEXES if layout == LAYOUT else ():
                    # Another SQLite may have made them in a way that this one cannot read.
                    db.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH 'aaaa'").fetchone()  # noqa: S608  as above
            except sqlite3.DatabaseError as error:
                if _is(error, (*_USELESS, sqlite3.SQLITE_ERROR)):
                    return -1
                raise
        return layout

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self._path)
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA temp_store=MEMORY")
        return connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if not _is(error, _USELESS):
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
    if _FORGETS:
        for table in _INDEXES:
            db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('secure-delete', 1)")  # noqa: S608  our own words


def remove_search(path: Path) -> None:
    """Remove the index with what SQLite keeps beside it; it is made again when it is opened.

    Raises OSError.
    """
    for end in ("", *BESIDE):
        place = path.with_name(path.name + end)
        if place.is_dir() and not place.is_symlink():
            place.rmdir()  # unless something is in it, which is none of ours
        elif path != MEMORY:
            place.unlink(missing_ok=True)


def _broken(why: str) -> SearchBroken:
    return SearchBroken("The chats could not be searched.", why, "Try again in a while.")


def _is(error: Exception, codes: tuple[int, ...]) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in codes
