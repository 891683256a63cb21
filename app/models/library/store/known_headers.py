"""The headers of model files, stored so that they need not be read again in each run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from app import __version__
from app.base.db import Database

if TYPE_CHECKING:
    from engines.models.gguf.headers import File

MOST_HEADERS: Final = 10_000
"""The most headers that are kept; beyond that, the oldest are dropped."""


class KnownHeaders:
    """The headers of unchanged files, as this version of Hearth has read them.

    Each method is one transaction and can be called from any thread.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, file: File) -> str | None:
        """Return a file's header as JSON; None if it is not stored."""
        path, size, mtime_ns = file
        with self._database.read() as db:
            row = db.execute(
                "SELECT header FROM headers "
                "WHERE path = ? AND size = ? AND mtime_ns = ? AND reader = ?",
                (str(path), size, mtime_ns, __version__),
            ).fetchone()
        return row["header"] if row else None

    def keep(self, headers: Mapping[File, str]) -> None:
        """Store headers, as JSON, and drop the oldest."""
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
                (MOST_HEADERS,),
            )
