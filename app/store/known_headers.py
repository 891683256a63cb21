"""What model files said of themselves, so that they need not be read again in each run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from app import __version__
from app.store.db import Database

File = tuple[Path, int, int]
"""A file as it is now: its path, size in bytes and time of change in nanoseconds."""

_KEPT: Final = 10_000
"""The most files; beyond these, those that were read the longest ago are forgotten."""


class KnownHeaders:
    """Of files that have not changed since, by this version of Hearth.

    Every method is one transaction and may be called from any thread.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, file: File) -> str | None:
        """The JSON that was kept."""
        path, size, mtime_ns = file
        with self._database.read() as db:
            row = db.execute(
                "SELECT header FROM headers "
                "WHERE path = ? AND size = ? AND mtime_ns = ? AND reader = ?",
                (str(path), size, mtime_ns, __version__),
            ).fetchone()
        return row["header"] if row else None

    def keep(self, headers: Mapping[File, str]) -> None:
        """headers: as JSON."""
        with self._database.write() as db:
            db.executemany(
                "INSERT OR REPLACE INTO headers (path, size, mtime_ns, reader, header) "
                "VALUES (?, ?, ?, ?, ?)",
                [
                    (str(path), size, mtime_ns, __version__, header)
                    for (path, size, mtime_ns), header in headers.items()
                ],
            )
            db.execute(
                "DELETE FROM headers WHERE rowid <= (SELECT max(rowid) FROM headers) - ?",
                (_KEPT,),
            )
