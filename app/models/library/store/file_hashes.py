"""The SHA-256 of model files, as of the last time they were read in full."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.base.db import Database


@dataclass(frozen=True)
class FileHash:
    """A file's SHA-256, with its size and modification time at that moment.

    Attributes:
        size: Size in bytes.
        mtime_ns: Modification time in nanoseconds.
        checked: When it was hashed, in seconds since 1970.
    """

    size: int
    mtime_ns: int
    sha256: str
    checked: float

    def matches(self, size: int, mtime_ns: int) -> bool:
        """Return whether a file seems unchanged, as far as that is visible without reading it."""
        return (self.size, self.mtime_ns) == (size, mtime_ns)


class FileHashes:
    """The table of hashes; each method is one transaction and can be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[Path, FileHash]:
        """Return the hashes of all files, by path."""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM file_hashes").fetchall()
        return {Path(row["path"]): _as_hash(row) for row in rows}

    def get(self, path: Path) -> FileHash | None:
        """Return the hash of a file; None if it was never hashed."""
        with self._database.read() as db:
            row = db.execute("SELECT * FROM file_hashes WHERE path = ?", (str(path),)).fetchone()
        return _as_hash(row) if row else None

    def save(self, path: Path, size: int, mtime_ns: int, sha256: str) -> None:
        """Store the hash of a file that was read just now."""
        with self._database.write() as db:
            db.execute(
                "INSERT OR REPLACE INTO file_hashes (path, size, mtime_ns, sha256, checked) "
                "VALUES (?, ?, ?, ?, ?)",
                (str(path), size, mtime_ns, sha256, time.time()),
            )

    def mark_changed(self, path: Path, sha256: str) -> None:
        """Record that a file no longer has the hash that it should have."""
        with self._database.write() as db:
            db.execute(
                "INSERT INTO file_hashes (path, size, mtime_ns, sha256, checked) "
                "VALUES (?, -1, -1, ?, 0) ON CONFLICT (path) DO UPDATE SET size = -1",
                (str(path), sha256),
            )

    def forget(self, paths: Iterable[Path]) -> None:
        """Delete the hashes of files."""
        with self._database.write() as db:
            db.executemany(
                "DELETE FROM file_hashes WHERE path = ?", [(str(path),) for path in paths]
            )


def _as_hash(row: sqlite3.Row) -> FileHash:
    return FileHash(row["size"], row["mtime_ns"], row["sha256"], row["checked"])
