"""The headers of model files, so that they need not be read again in each run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from app import __version__
from app.base.db import Database

if TYPE_CHECKING:
    from engines.models.gguf.headers import File

_KEPT: Final = 10_000
"""The most files; beyond these, those that were read the longest ago are forgotten."""


class KnownHeaders:
    """Headers of files that have not changed since, as this version of Hearth read them.

    Each method is one transaction, safe from any thread.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, file: File) -> str | None:
        """Return a file's header as JSON; None where it is not known."""
        path, size, mtime_ns = file
        with self._database.read() as db:
            row = db.execute(
                "SELECT header FROM headers "
                "WHERE path = ? AND size = ? AND mtime_ns = ? AND reader = ?",
                (str(path), size, mtime_ns, __version__),
            ).fetchone()
        return row["header"] if row else None

    def keep(self, headers: Mapping[File, str]) -> None:
        """Keep headers, as JSON, and drop the oldest."""
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
