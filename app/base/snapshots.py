"""Daily copies of the database, and restoring one of them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.base.db import (
    RESTORE_ADVICE,
    RESTORE_ADVICE_IN_TERMINAL,
    SIDE_FILE_SUFFIXES,
    Database,
    connect,
    require_files,
)
from app.base.errors import AppError, DatabaseDamaged, SnapshotUnusable
from app.base.folder import as_user_errors, disk_full
from app.base.home import expand_home
from app.base.migrations import MIGRATIONS
from engines.cancel import CancelToken
from engines.private import make_private_file, make_private_folder, replace_file
from engines.sentences import N_

_NAME = "chats-%Y-%m-%d.db"
_BEFORE = "before-restore-%Y-%m-%d-%H%M%S.db"


@dataclass(frozen=True)
class Snapshot:
    """A copy of the database.

    Attributes:
        made: When it was made, in seconds since 1970.
        size: Size in bytes.
    """

    path: Path
    made: float
    size: int


class Snapshots:
    """The copies of one database, in one folder. Any thread can use it, but only one at a time.

    Args:
        folder: The folder of the copies.
        database: The database file.
        check_every: Steps of SQLite's virtual machine between two checks for a cancel.
    """

    def __init__(self, folder: Path, database: Path, check_every: int = 100_000) -> None:
        self._folder = folder
        self._database = database
        self._check_every = check_every

    def list(self) -> list[Snapshot]:
        """List the copies and those from before updates, beside the database, newest first."""
        before_updates = self._database.parent.glob(f"{self._database.stem}.before-v*.db")
        files = [(file, file.stat()) for file in (*self._folder.glob("*.db"), *before_updates)]
        snapshots = [Snapshot(file, stat.st_mtime, stat.st_size) for file, stat in files]
        return sorted(snapshots, key=lambda snapshot: snapshot.made, reverse=True)

    def require_chats(self, index: Path) -> None:
        """Refuse a database that is empty or missing although it was not before.

        SQLite would create a new one in its place: the chats would seem to be gone, and copies of
        the new database would replace theirs.

        Args:
            index: The search index, which is created only for a whole database.

        Raises:
            DatabaseDamaged: The database is empty or missing.
        """
        path, wal = self._database, self._database.with_name(f"{self._database.name}-wal")
        if not _is_blank(path):
            return
        size = path.stat().st_size if path.exists() else 0
        # SQLite discards the changes in the log if the database file is empty.
        has_log = not size and wal.is_file() and wal.stat().st_size > 0
        if not has_log and self._latest_copy() is None:
            if path.exists() and index.is_file() and index.stat().st_size > 0:
                raise DatabaseDamaged(
                    N_("The database of chats is empty."),
                    N_("{path} is empty, and there is no daily copy of it yet.", path=path),
                    N_(
                        "Put a copy of your own in its place, or move it away to begin without "
                        "chats."
                    ),
                )
            return
        if path.exists():
            problem, reason = (
                N_("The database of chats is empty."),
                N_("{path} is empty.", path=path),
            )
        else:
            problem, reason = (
                N_("The database of chats is gone."),
                N_("{path} is not there any more.", path=path),
            )
        raise DatabaseDamaged(
            problem,
            reason,
            RESTORE_ADVICE,
            terminal=RESTORE_ADVICE_IN_TERMINAL,
        )

    def with_copy(self, error: DatabaseDamaged) -> DatabaseDamaged:
        """Return the error with the name of the latest copy that can be restored, if any."""
        copy = self._latest_copy()
        if copy is None:
            return error
        return DatabaseDamaged(
            error.what,
            error.why,
            error.do,
            copy.name,
            terminal=N_(
                "{terminal} The last copy is put back with `hearth chats restore {name}`.",
                terminal=error.terminal,
                name=copy.name,
            ),
        )

    def find(self, name: str) -> Path:
        """Return the path of the copy with that name; without one, the name as a path."""
        paths = (snapshot.path for snapshot in self.list() if snapshot.path.name == name)
        return next(paths, expand_home(name))

    def _latest_copy(self) -> Path | None:
        """Return the newest sound copy with chats; without one, the newest sound copy."""
        sound = [snapshot.path for snapshot in self.list() if _is_sound(snapshot.path)]
        return next((path for path in sound if _size_in_rows(path)), sound[0] if sound else None)

    def is_due(self, now: datetime) -> bool:
        """Return whether there is no copy of this day yet.

        Args:
            now: The local time.
        """
        return not (self._folder / now.strftime(_NAME)).exists()

    def take(self, now: datetime, keep: int, cancel: CancelToken) -> Path | None:
        """Copy the database as it is now; return None, and leave nothing, if that was cancelled.

        The copy is checked, and gets its name only once it is whole and on the disk. The newest
        `keep` daily copies stay, and so does any older one with more than twice the chats and
        messages of the new copy, since the user may not have wanted that loss.

        Args:
            now: The local time.
            keep: Number of daily copies to keep.

        Raises:
            DiskFull: The disk has no free space.
            DataFolderReadOnly: The system does not allow writing there.
            SnapshotUnusable: The copy failed.
        """
        copy = self._copy(now.strftime(_NAME), cancel, _is_no_loss)
        if copy is not None:
            rows = _size_in_rows(copy)
            # A copy with a later date was made with a wrong clock, and is deleted first.
            newest_first = sorted(
                self._folder.glob("chats-*.db"),
                key=lambda file: (file.name <= copy.name, file.name),
                reverse=True,
            )
            for old in newest_first[keep:]:
                if _size_in_rows(old) <= 2 * rows:
                    old.unlink(missing_ok=True)
            # Delete the partial copies that crashes have left, on any day.
            for leftover in self._folder.glob("chats-*.part*"):
                leftover.unlink(missing_ok=True)
        return copy

    def restore(self, source: Path, now: datetime) -> Path | None:
        """Replace the present chats with those of a copy; return where the present ones were saved.

        Other windows and terminals see one or the other, never a mixture. The copy can be from an
        older Hearth.

        Raises:
            SnapshotUnusable: The copy cannot be used; nothing has changed.
        """
        with _opened(source) as db:
            _require_sound(db, source)
            saved = self._set_aside(now.strftime(_BEFORE))
            with closing(connect(self._database)) as target:
                db.backup(target)
        Database(self._database).close()
        return saved

    def _set_aside(self, name: str) -> Path | None:
        """Copy the present database; move a damaged one as it is, with its side files."""
        if _is_sound(self._database):
            return self._copy(name, CancelToken())
        saved = None
        with as_user_errors(self._folder):
            make_private_folder(self._folder)
            for suffix in (*SIDE_FILE_SUFFIXES, ""):
                file = self._database.with_name(self._database.name + suffix)
                is_empty = file.is_file() and not file.stat().st_size
                if os.path.lexists(file) and not is_empty:
                    saved = self._folder / f"{name}.damaged{suffix}"
                    replace_file(file, saved)
        return saved

    def _copy(
        self,
        name: str,
        cancel: CancelToken,
        may_replace: Callable[[Path, Path], bool] = lambda *_: True,
    ) -> Path | None:
        """Copy the database; return None if that was cancelled or the existing copy stays.

        Args:
            may_replace: Returns whether a new copy can replace the existing one, which stays
                otherwise.
        """
        path = self._folder / name
        partial = path.with_suffix(".part")
        with as_user_errors(self._folder):
            make_private_folder(self._folder)
            partial.unlink(missing_ok=True)
            make_private_file(partial)
        try:
            with closing(connect(self._database)) as db:
                db.set_progress_handler(lambda: cancel.cancelled, self._check_every)
                db.execute("VACUUM INTO ?", (str(partial),))
            with closing(connect(partial)) as copy:
                copy.set_progress_handler(lambda: cancel.cancelled, self._check_every)
                _require_sound(copy, partial)
                # Rows have other numbers in a copy, so the search index does not match it.
                copy.execute("DELETE FROM kept WHERE name = 'history'")
            with as_user_errors(self._folder):
                # SQLite does not flush such a copy to the disk itself.
                with partial.open("rb+") as file:
                    os.fsync(file.fileno())
                if not may_replace(partial, path):
                    return None
                replace_file(partial, path)
        except sqlite3.DatabaseError as error:
            code = error.sqlite_errorcode & 0xFF
            if code == sqlite3.SQLITE_INTERRUPT:
                return None
            if code == sqlite3.SQLITE_FULL:
                raise disk_full(self._folder) from error
            raise _unusable(path, N_("The system says: {strerror}.", strerror=error)) from error
        finally:
            partial.unlink(missing_ok=True)
        return path


def _is_sound(path: Path) -> bool:
    """Return whether a file is a whole database of chats that this Hearth knows."""
    try:
        with _opened(path) as db:
            _require_sound(db, path)
    except (AppError, sqlite3.DatabaseError):
        return False
    return True


def _is_blank(path: Path) -> bool:
    """Return whether there is no file, or only one without a database of Hearth's.

    A link is not blank, and neither is a file that cannot be read: opening it reports the error.
    """
    if not path.is_file():
        return not path.exists() and not path.is_symlink()
    if not path.stat().st_size:
        return True
    try:
        with _opened(path) as db:
            return int(db.execute("PRAGMA user_version").fetchone()[0]) == 0
    except sqlite3.DatabaseError:
        return False


def _size_in_rows(path: Path) -> int:
    """Return the number of a database's chats and messages; 0 if it cannot be read."""
    try:
        with _opened(path) as db:
            query = "SELECT (SELECT count(*) FROM chats) + (SELECT count(*) FROM messages)"
            return int(db.execute(query).fetchone()[0])
    except (AppError, sqlite3.DatabaseError):
        return 0


def _is_no_loss(new: Path, old: Path) -> bool:
    return _size_in_rows(old) <= 2 * _size_in_rows(new)


def _opened(source: Path) -> closing[sqlite3.Connection]:
    if not source.is_file():
        raise _unusable(source, N_("There is no such file."))
    require_files(source)
    uri = f"{source.absolute().as_uri()}?mode=ro"
    return closing(sqlite3.connect(uri, uri=True))


def _require_sound(db: sqlite3.Connection, path: Path) -> None:
    try:
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        db.execute("SELECT id, title FROM chats LIMIT 1")
        result = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_INTERRUPT:
            raise
        raise _unusable(path, N_("It is not a database of chats: {error}.", error=error)) from error
    if version > len(MIGRATIONS):
        raise _unusable(path, N_("It was written by a newer Hearth; update Hearth first."))
    if result != "ok":
        raise _unusable(path, N_("The file is damaged: {found}.", found=result))


def _unusable(path: Path, reason: str) -> SnapshotUnusable:
    return SnapshotUnusable(
        N_("The copy {name} cannot be used.", name=path.name),
        reason,
        N_("Choose another copy."),
        terminal=N_("`hearth chats restore list` shows all."),
    )
