"""Daily copies of the database, and how one of them is put back."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.base.db import BESIDE, PUT_BACK, PUT_BACK_IN_TERMINAL, Database, connect, require_files
from app.base.errors import AppError, DatabaseDamaged, SnapshotUnusable
from app.base.folder import disk_full, explained
from app.base.home import from_home
from app.base.migrations import MIGRATIONS
from engines.cancel import CancelToken
from engines.private import make_private_file, make_private_folder, replace_file

_NAME = "chats-%Y-%m-%d.db"
_BEFORE = "before-restore-%Y-%m-%d-%H%M%S.db"


@dataclass(frozen=True)
class Snapshot:
    """A copy of the database. made: in seconds since 1970. size: bytes."""

    path: Path
    made: float
    size: int


class Snapshots:
    """The copies of one database, in one folder. For any thread, by one at a time.

    look_every: steps of SQLite's machine between two looks at whether a copy is still wanted.
    """

    def __init__(self, folder: Path, database: Path, look_every: int = 100_000) -> None:
        self._folder = folder
        self._database = database
        self._look_every = look_every

    def list(self) -> list[Snapshot]:
        """List the copies, newest first, and those from before an update, beside the database."""
        before_updates = self._database.parent.glob(f"{self._database.stem}.before-v*.db")
        files = [(file, file.stat()) for file in (*self._folder.glob("*.db"), *before_updates)]
        found = [Snapshot(file, stat.st_mtime, stat.st_size) for file, stat in files]
        return sorted(found, key=lambda snapshot: snapshot.made, reverse=True)

    def require_chats(self, index: Path) -> None:
        """Refuse a database that is empty or gone and was not so before. Raises DatabaseDamaged.

        SQLite would begin a new one in its place: the chats would seem to be gone, and the copies
        of the new one would take the place of theirs. index: of the search, which is only made
        for a database that is whole.
        """
        path, wal = self._database, self._database.with_name(f"{self._database.name}-wal")
        if not _is_blank(path):
            return
        size = path.stat().st_size if path.exists() else 0
        # SQLite throws away what waits to be put into a file of nothing.
        waits = not size and wal.is_file() and wal.stat().st_size > 0
        if not waits and self._last_copy() is None:
            if path.exists() and index.is_file() and index.stat().st_size > 0:
                raise DatabaseDamaged(
                    "The database of chats is empty.",
                    f"{path} is empty, and there is no daily copy of it yet.",
                    "Put a copy of your own in its place, or move it away to begin without chats.",
                )
            return
        if path.exists():
            what, why = "The database of chats is empty.", f"{path} is empty."
        else:
            what, why = "The database of chats is gone.", f"{path} is not there any more."
        raise DatabaseDamaged(
            what,
            why,
            PUT_BACK,
            terminal=PUT_BACK_IN_TERMINAL,
        )

    def with_copy(self, error: DatabaseDamaged) -> DatabaseDamaged:
        """Return the error with the name of the last copy that can be put back, if there is one."""
        copy = self._last_copy()
        if copy is None:
            return error
        return DatabaseDamaged(
            error.what,
            error.why,
            error.do,
            copy.name,
            terminal=f"{error.terminal} The last copy is put back with `hearth chats restore "
            f"{copy.name}`.",
        )

    def named(self, name: str) -> Path:
        """Return the copy of that name; else the file at that path."""
        found = (snapshot.path for snapshot in self.list() if snapshot.path.name == name)
        return next(found, from_home(name))

    def _last_copy(self) -> Path | None:
        """Return the newest copy that is whole and not empty; else the newest that is whole."""
        whole = [it.path for it in self.list() if _is_sound(it.path)]
        return next((it for it in whole if _held(it)), whole[0] if whole else None)

    def is_due(self, now: datetime) -> bool:
        """Whether there is no copy of this day yet. now: in local time."""
        return not (self._folder / now.strftime(_NAME)).exists()

    def take(self, now: datetime, keep: int, cancel: CancelToken) -> Path | None:
        """Copy the database as it is now; None if that was cancelled, then nothing is left of it.

        The copy is checked, and has its name only once it is whole and on the disk. Of the daily
        ones so many are kept, and none goes for one that has lost more than half of what it holds:
        that may not be what the user wanted.
        Raises DiskFull, DataFolderReadOnly or SnapshotUnusable.
        """
        taken = self._copy(now.strftime(_NAME), cancel, _is_no_loss)
        if taken is not None:
            held = _held(taken)
            # One with a later date is of a clock that was wrong, and the first to go.
            newest_first = sorted(
                self._folder.glob("chats-*.db"),
                key=lambda file: (file.name <= taken.name, file.name),
                reverse=True,
            )
            for old in newest_first[keep:]:
                if _held(old) <= 2 * held:
                    old.unlink(missing_ok=True)
            # What a crash in the middle of a copy has left, on whichever day.
            for left in self._folder.glob("chats-*.part*"):
                left.unlink(missing_ok=True)
        return taken

    def restore(self, source: Path, now: datetime) -> Path | None:
        """Put the chats of a copy in place of the present ones; returns where those are.

        Other windows and terminals see the one or the other, never a mixture. The file may be of
        an older Hearth. Raises SnapshotUnusable before anything has changed.
        """
        with _opened(source) as db:
            _require_sound(db, source)
            kept = self._set_aside(now.strftime(_BEFORE))
            with closing(connect(self._database)) as target:
                db.backup(target)
        Database(self._database).close()
        return kept

    def _set_aside(self, name: str) -> Path | None:
        """Keep what is in the database; what is damaged as it is, with the files beside it."""
        if _is_sound(self._database):
            return self._copy(name, CancelToken())
        kept = None
        with explained(self._folder):
            make_private_folder(self._folder)
            for end in (*BESIDE, ""):
                place = self._database.with_name(self._database.name + end)
                is_nothing = place.is_file() and not place.stat().st_size
                if os.path.lexists(place) and not is_nothing:
                    kept = self._folder / f"{name}.damaged{end}"
                    replace_file(place, kept)
        return kept

    def _copy(
        self,
        name: str,
        cancel: CancelToken,
        is_wanted: Callable[[Path, Path], bool] = lambda *_: True,
    ) -> Path | None:
        """Copy the database; None if cancelled or not wanted.

        is_wanted: whether a new copy may take the place of what is there, which stays otherwise.
        """
        path = self._folder / name
        partial = path.with_suffix(".part")
        with explained(self._folder):
            make_private_folder(self._folder)
            partial.unlink(missing_ok=True)
            make_private_file(partial)
        try:
            with closing(connect(self._database)) as db:
                db.set_progress_handler(lambda: cancel.cancelled, self._look_every)
                db.execute("VACUUM INTO ?", (str(partial),))
            with closing(connect(partial)) as copy:
                copy.set_progress_handler(lambda: cancel.cancelled, self._look_every)
                _require_sound(copy, partial)
                # Rows have other numbers in a copy, so no search index goes with it.
                copy.execute("DELETE FROM kept WHERE name = 'history'")
            with explained(self._folder):
                # SQLite leaves it to its caller to bring such a copy to the disk.
                with partial.open("rb+") as file:
                    os.fsync(file.fileno())
                if not is_wanted(partial, path):
                    return None
                replace_file(partial, path)
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


def _is_sound(path: Path) -> bool:
    """Tell whether a file is a whole database of chats that this Hearth knows."""
    try:
        with _opened(path) as db:
            _require_sound(db, path)
    except (AppError, sqlite3.DatabaseError):
        return False
    return True


def _is_blank(path: Path) -> bool:
    """Tell whether nothing is there, or a file in which no Hearth has begun.

    A link is something, and so is what cannot be read: whoever opens it says why.
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


def _held(path: Path) -> int:
    """Count a database's chats and messages; 0 where it cannot be read."""
    try:
        with _opened(path) as db:
            counted = "SELECT (SELECT count(*) FROM chats) + (SELECT count(*) FROM messages)"
            return int(db.execute(counted).fetchone()[0])
    except (AppError, sqlite3.DatabaseError):
        return 0


def _is_no_loss(new: Path, old: Path) -> bool:
    return _held(old) <= 2 * _held(new)


def _opened(source: Path) -> closing[sqlite3.Connection]:
    if not source.is_file():
        raise _unusable(source, "There is no such file.")
    require_files(source)
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
        f"The copy {path.name} cannot be used.",
        why,
        "Choose another copy.",
        terminal="`hearth chats restore list` shows all.",
    )
