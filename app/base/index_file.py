"""The file of an index: a database that can be rebuilt from the data it indexes.

So it needs no copies and no migrations, writing to it never delays a chat, and it is rebuilt if it
cannot be read or has another layout.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.base.db import MEMORY, SIDE_FILE_SUFFIXES, connect, set_synchronous
from app.base.errors import AppError, SearchBroken
from app.base.folder import disk_full
from engines.sentences import N_

DELETES_WORDS_AT_ONCE: Final = sqlite3.sqlite_version_info >= (3, 42)
"""True if this SQLite can remove a word from an index at once, instead of only marking it."""

_MERGED: Final = 500
"""The number of pages of a word index that are rewritten in one step."""

_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_USELESS: Final = (*_DAMAGED, sqlite3.SQLITE_ERROR)
"""Error codes for which a file is replaced; another SQLite may have made it in an unknown way."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IndexKind:
    """The content of an index file.

    Attributes:
        layout: Version number, increased when the tables or their content change.
        tables: The SQL statements that create the tables.
        word_tables: Names of the FTS5 tables.
        failure: The sentence for an error: the file cannot be searched.
        rebuilt: The reason in an error: the file was damaged and is rebuilt.
        in_memory: Whether the index is kept in memory if no file can be written.
    """

    layout: int
    tables: tuple[str, ...]
    word_tables: tuple[str, ...]
    failure: str
    rebuilt: str
    in_memory: bool = False

    def make(self, db: sqlite3.Connection) -> None:
        """Create the tables in an empty database."""
        for table in self.tables:
            db.execute(table)
        for table in self.word_tables if DELETES_WORDS_AT_ONCE else ():
            db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('secure-delete', 1)")  # noqa: S608  our own words


class IndexFile:
    """An open index: one connection for reading and one for writing, each for one thread at a time.

    The owner calls `close`.

    Raises:
        SearchBroken: The disk failed, or the file was damaged; a damaged index is empty afterwards.
    """

    def __init__(self, path: Path, kind: IndexKind) -> None:
        self._path = path
        self._kind = kind
        self._reading = threading.RLock()
        self._writing = threading.RLock()
        try:
            self._open()
        except (sqlite3.DatabaseError, AppError) as error:
            if _has_code(error, _BUSY) or not (kind.in_memory or _has_code(error, _USELESS)):
                raise self._error_for_users(error) from error
            _log.warning("the index %s is rebuilt: %s", self._path.name, error)
            self._replace()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection for reading; its rows have names."""
        with self._reading, self._errors_for_users():
            yield self._reader

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: the block's changes are saved together at its end, or not at all."""
        with self._writing, self._errors_for_users():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.rollback()
                raise
            self._writer.commit()

    def merge(self) -> bool:
        """Rewrite a part of the word indexes, without the words that are marked as removed.

        Returns:
            Whether there may be more to rewrite; False if this SQLite removes words at once.
        """
        if DELETES_WORDS_AT_ONCE:
            return False
        merged = 0
        with self.write() as db:
            for table in self._kind.word_tables:
                before = db.total_changes
                for pages in (-_MERGED, _MERGED):
                    db.execute(
                        f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)",  # noqa: S608  our own words
                        (pages,),
                    )
                # The two statements themselves count as two changes.
                merged += db.total_changes - before - 2
        return merged > 0

    def size_bytes(self) -> int:
        """Return the size of the index on the disk, with its side files."""
        paths = (
            self._path.with_name(self._path.name + suffix) for suffix in ("", *SIDE_FILE_SUFFIXES)
        )
        return sum(path.stat().st_size for path in paths if path.exists())

    def close(self) -> None:
        """Close both connections, once no thread uses them."""
        with self._reading, self._writing:
            self._reader.close()
            self._writer.close()

    def _open(self) -> None:
        layout = self._layout()
        if layout not in {0, self._kind.layout}:
            remove_index(self._path)
            layout = 0
        self._reader = self._connect()
        self._writer = self._reader if self._path == MEMORY else self._connect()
        if layout == 0:
            self._reader.execute("PRAGMA journal_mode=WAL")
            with self.write() as db:
                self._kind.make(db)
                db.execute(f"PRAGMA user_version={self._kind.layout}")

    def _replace(self) -> None:
        """Replace a file that cannot be opened; use memory if no file can be written."""
        try:
            remove_index(self._path)
            self._open()
        except (sqlite3.DatabaseError, AppError, OSError) as error:
            if not self._kind.in_memory:
                raise self._error_for_users(error) from error
            _log.warning("the index %s is kept in memory: %s", self._path.name, error)
            self._path, self._reading = MEMORY, self._writing
            self._open()

    def _layout(self) -> int:
        """Return the layout of the file, 0 for a new one; check that its words can be read."""
        if self._path == MEMORY:
            return 0
        with closing(connect(self._path)) as db:
            layout = int(db.execute("PRAGMA user_version").fetchone()[0])
            for table in self._kind.word_tables if layout == self._kind.layout else ():
                db.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH 'aaaa'").fetchone()  # noqa: S608  our own words
        return layout

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self._path)
        connection.row_factory = sqlite3.Row
        set_synchronous(connection, "NORMAL")
        connection.execute("PRAGMA temp_store=MEMORY")
        return connection

    @contextmanager
    def _errors_for_users(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if _has_code(error, _DAMAGED):
                _log.warning("the index %s is rebuilt: %s", self._path.name, error)
                with self._reading, self._writing:
                    self.close()
                    remove_index(self._path)
                    self._open()
            raise self._error_for_users(error) from error

    def _error_for_users(self, error: Exception) -> AppError:
        if isinstance(error, AppError):
            return error
        if _has_code(error, (sqlite3.SQLITE_FULL,)):
            return disk_full(self._path.parent)
        reason = (
            self._kind.rebuilt
            if _has_code(error, _DAMAGED)
            else N_("The system says: {strerror}.", strerror=error)
        )
        return SearchBroken(self._kind.failure, reason, N_("Try again in a while."))


def remove_index(path: Path) -> None:
    """Remove an index with its side files; opening it creates a new one.

    Raises OSError.
    """
    for suffix in ("", *SIDE_FILE_SUFFIXES):
        file = path.with_name(path.name + suffix)
        if file.is_dir() and not file.is_symlink():
            file.rmdir()  # fails if something is in it, which would not be ours
        elif path != MEMORY:
            file.unlink(missing_ok=True)


def _has_code(error: Exception, codes: tuple[int, ...]) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in codes
