"""The database file: opening, migrating and transactions, with one connection per thread."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from app.base.errors import (
    AppError,
    CannotSave,
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseNewer,
    DataFolderReadOnly,
)
from app.base.folder import as_user_errors, disk_full
from app.base.migrations import MIGRATIONS
from engines.private import make_private_file
from engines.sentences import N_

MEMORY: Final = Path(":memory:")
"""The path of a database that exists only in memory."""

SQLITE_VERSION: Final = sqlite3.sqlite_version

SIDE_FILE_SUFFIXES: Final = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite writes next to a database."""

RESTORE_ADVICE: Final = N_(
    "Restore a copy of it, or move the data folder away to begin without chats."
)
"""The advice for a damaged or missing database."""

RESTORE_ADVICE_IN_TERMINAL: Final = N_(
    "Put a copy of it back; to begin without chats, choose another data folder with --data-dir."
)

BUSY_S = 5.0

commits_reach_disk = True
"""True if a commit waits until it is on the disk. Only tests turn it off."""


def _side_file(path: Path, suffix: str) -> Path:
    """Return the path of a file that SQLite keeps beside a database."""
    return path.with_name(path.name + suffix)


def require_files(path: Path) -> None:
    """Refuse a database that is not a file, or has something other than a file beside it.

    SQLite would wait for something like a pipe, and create a database at a broken link's target.
    Raises DatabaseDamaged.
    """
    for file in (path, *(_side_file(path, end) for end in SIDE_FILE_SUFFIXES)):
        if file.is_symlink() and not file.exists():
            reason = N_(
                "{place} is a link to {target}, which does not exist.",
                place=file,
                target=file.readlink(),
            )
        elif file.exists() and not file.is_file():
            reason = N_("{place} is not a file.", place=file)
        else:
            continue
        raise DatabaseDamaged(
            N_("The database of chats cannot be opened."),
            reason,
            N_("Put the file back where it was, or move away what is in its place."),
        )


def connect(path: Path) -> sqlite3.Connection:
    """Open a database for its owner only; overwrite deleted data in it with zeros.

    Some builds of SQLite do so by default, others do not. Raises AppError.
    """
    if path != MEMORY:
        require_files(path)
    if path != MEMORY and not path.exists():
        with as_user_errors(path):
            make_private_file(path)
    connection = sqlite3.connect(
        path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA secure_delete=ON")
    return connection


def set_synchronous(connection: sqlite3.Connection, mode: Literal["FULL", "NORMAL"]) -> None:
    """Set whether each commit reaches the disk (FULL) or only each checkpoint (NORMAL)."""
    connection.execute(f"PRAGMA synchronous={mode if commits_reach_disk else 'OFF'}")


def _unwritable(database: Path) -> Path | None:
    """Return a file of the database, or its folder, that the system does not let us write to."""
    paths = (database, *(_side_file(database, end) for end in SIDE_FILE_SUFFIXES), database.parent)
    return next((path for path in paths if path.exists() and not os.access(path, os.W_OK)), None)


def _not_writable(place: Path) -> DataFolderReadOnly:
    """Make the error for a file of the database that cannot be written."""
    return DataFolderReadOnly(
        N_("Hearth cannot write to its database."),
        N_("The system does not allow writing to {place}.", place=place),
        N_("Allow writing to that file and its folder."),
        terminal=N_(
            "Allow writing to that file and its folder, or choose another with --data-dir."
        ),
    )


class Database:
    """One SQLite file in WAL mode, so that reading never waits for writing.

    Every commit reaches the disk (synchronous=FULL): a question that was sent survives a power
    cut. The owner calls `close`, after all threads that used the database have ended.

    Attributes:
        write_error: Why nothing can be written; None if writing works. Reading works in any case.

    Raises:
        DatabaseNewer: A newer Hearth wrote it.
        DatabaseDamaged: It cannot be read.
        DatabaseBusy: Another program keeps it locked.
        DataFolderReadOnly: It cannot be written, and there is nothing to read either.
        DiskFull: The disk is full, and there is nothing to read either.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: list[tuple[Callable[[], bool], sqlite3.Connection]] = []
        self._cleanup = ExitStack()
        self._reads_from = ""
        self.write_error: CannotSave | None = None
        if path != MEMORY:
            require_files(path)
        try:
            with self._errors_for_users():
                self._migrate()
                self._connection()
                if path != MEMORY and (unwritable := _unwritable(path)):
                    raise _not_writable(unwritable)
        except CannotSave as error:
            self._open_to_read(error)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reading; its rows have names."""
        with self._errors_for_users():
            yield self._connection()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: the block's changes are saved together at its end, or not at all."""
        if self.write_error is not None:
            raise self.write_error
        with self._errors_for_users():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def close(self) -> None:
        """Close the connections of all threads, and delete a temporary copy."""
        with self._lock:
            for _, connection in self._connections:
                connection.close()
            self._connections.clear()
        self._cleanup.close()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._open()
            self._local.connection = connection
            with self._lock:
                self._close_unused_connections()
                self._connections.append((threading.current_thread().is_alive, connection))
        return connection

    def _close_unused_connections(self) -> None:
        """Close the connections of threads that have ended; a server's threads come and go."""
        ended = [entry for entry in self._connections if not entry[0]()]
        for entry in ended:
            entry[1].close()
            self._connections.remove(entry)

    def _open(self) -> sqlite3.Connection:
        if self._reads_from:
            connection = sqlite3.connect(
                self._reads_from, uri=True, timeout=BUSY_S, isolation_level=None,
                check_same_thread=False,
            )  # fmt: skip
            connection.row_factory = sqlite3.Row
            return connection
        connection = connect(self._path)
        connection.row_factory = sqlite3.Row
        set_synchronous(connection, "FULL")
        connection.execute("PRAGMA journal_mode=WAL")
        # On macOS a commit would otherwise count as saved while it is still in the disk's own
        # memory.
        connection.execute("PRAGMA fullfsync=ON")
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def _open_to_read(self, error: CannotSave) -> None:
        """Open a database that cannot be written. Raises `error` if it cannot be read either."""
        self.close()
        self._local = threading.local()
        if not self._path.is_file():
            raise error
        address, wal = self._path.absolute().as_uri(), _side_file(self._path, "-wal")
        try:
            is_complete = not wal.exists() or wal.stat().st_size == 0
            # If SQLite cannot create the files that it keeps beside a database, it can still read
            # the database file alone, which is complete unless the log beside it contains changes.
            uris = [f"{address}?mode=ro", *([f"{address}?immutable=1"] if is_complete else [])]
            if not any(self._select_if_readable(uri) for uri in uris):
                self._read_from_copy(wal)
        except (OSError, sqlite3.DatabaseError):
            raise error from None
        self.write_error = error

    def _select_if_readable(self, uri: str) -> bool:
        """Return whether this Hearth can read the database at a URI; if so, read from there."""
        try:
            with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_S)) as db:
                version = int(db.execute("PRAGMA user_version").fetchone()[0])
        except sqlite3.DatabaseError:
            return False
        self._reads_from = uri
        return version == len(MIGRATIONS)

    def _read_from_copy(self, wal: Path) -> None:
        """Read from a temporary copy, updated with the changes in the log at `wal`."""
        folder = Path(self._cleanup.enter_context(TemporaryDirectory(prefix="hearth-")))
        copy = folder / "chats.db"
        shutil.copyfile(self._path, copy)
        if wal.exists():
            shutil.copyfile(wal, _side_file(copy, "-wal"))
        with closing(Database(copy)) as database:
            if database.write_error is not None:
                raise database.write_error
        self._reads_from = f"{copy.as_uri()}?mode=ro"

    def _migrate(self) -> None:
        """Run the missing migrations in one transaction, after a copy of an older database."""
        version = self._version_on_disk()
        if version > len(MIGRATIONS):
            raise DatabaseNewer(
                N_("These chats were written by a newer Hearth."),
                N_(
                    "The database {path} has version {version}; this Hearth knows versions up to "
                    "{count} "
                    "and leaves it untouched.",
                    path=self._path,
                    version=version,
                    count=len(MIGRATIONS),
                ),
                N_("Update Hearth."),
                terminal=N_("Update Hearth, or choose another data folder with --data-dir."),
            )
        if version == len(MIGRATIONS):
            return
        if version > 0:
            self._copy_before_migration(version)
        with self.write() as db:
            # Another process may have migrated while this one waited for the write lock.
            version_now = int(db.execute("PRAGMA user_version").fetchone()[0])
            for step in MIGRATIONS[version_now:]:
                step(db)
            db.execute(f"PRAGMA user_version={len(MIGRATIONS)}")

    def _version_on_disk(self) -> int:
        """Read the version without opening for writing, so that a newer file is not changed."""
        if not self._path.exists():
            return 0
        uri = f"{self._path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_S)) as db:
            return int(db.execute("PRAGMA user_version").fetchone()[0])

    def _copy_before_migration(self, version: int) -> None:
        copy = self._path.with_name(f"{self._path.stem}.before-v{version + 1}.db")
        with as_user_errors(copy):
            copy.unlink(missing_ok=True)
            make_private_file(copy)
        with self.read() as db:
            db.execute("VACUUM INTO ?", (str(copy),))

    @contextmanager
    def _errors_for_users(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._error_for_users(error) from error

    def _error_for_users(self, error: sqlite3.DatabaseError) -> Exception:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        no_room = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHMSIZE
        if code == sqlite3.SQLITE_FULL or no_room:
            return disk_full(self._path.parent)
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return _not_writable(_unwritable(self._path) or self._path)
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return DatabaseDamaged(
                N_("The database of chats is damaged."),
                N_(
                    "{path} is no longer a complete SQLite file; Hearth has not changed it.",
                    path=self._path,
                ),
                RESTORE_ADVICE,
                terminal=RESTORE_ADVICE_IN_TERMINAL,
            )
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return DatabaseBusy(
                N_("The database of chats is busy."),
                N_("Another program has been writing to it for several seconds."),
                N_("Wait a moment, then try again."),
            )
        if code == sqlite3.SQLITE_IOERR:
            return AppError(
                N_("The disk failed while chats were being read or written."),
                N_("The system says: {strerror}.", strerror=error),
                N_("Check the disk and its free space, then try again."),
            )
        return error
