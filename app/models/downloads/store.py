"""The queue of downloads in the database, where it survives a restart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from app.base.db import Database
from app.models.downloads.values.downloads import Wanted
from app.models.hub.values.hub import RepoFile
from engines.errors import UserError

KeptState = Literal["waiting", "paused", "done", "failed", "cancelled"]
"""The state in the database; a running download is "waiting", so that it resumes after a crash."""


@dataclass(frozen=True)
class KeptDownload:
    """A row of the queue.

    Attributes:
        runner: Names the process that is working on it; see `processes`.
    """

    id: str
    wanted: Wanted
    state: KeptState = "waiting"
    what: str = ""
    why: str = ""
    do: str = ""
    code: str = ""
    runner: str | None = None

    def told(self, error: UserError | None) -> KeptDownload:
        """Return a copy with the parts of an error, or without any error."""
        if error is None:
            return replace(self, what="", why="", do="", code="")
        return replace(self, what=error.what, why=error.why, do=error.do, code=error.code)


class DownloadStore:
    """The table of downloads; each method is one transaction and can be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def downloads(self) -> list[KeptDownload]:
        """Return the downloads in the order of the queue."""
        with self._database.read() as db:
            rows = db.execute("SELECT * FROM downloads ORDER BY position, rowid").fetchall()
        return [
            KeptDownload(
                row["id"],
                _wanted(row["wanted"]),
                row["state"],
                row["what"],
                row["why"],
                row["what_to_do"],
                row["code"],
                row["runner"],
            )
            for row in rows
        ]

    def add(self, kept: KeptDownload) -> None:
        """Add a download at the end of the queue."""
        with self._database.write() as db:
            db.execute(
                "INSERT INTO downloads (id, position, state, wanted) VALUES "
                "(?, (SELECT COALESCE(MAX(position), 0) + 1 FROM downloads), ?, ?)",
                (kept.id, kept.state, json.dumps(asdict(kept.wanted))),
            )

    def update(self, kept: KeptDownload) -> None:
        """Update a download, except for its files and its place in the queue."""
        with self._database.write() as db:
            db.execute(
                "UPDATE downloads SET state = ?, what = ?, why = ?, what_to_do = ?, code = ?, "
                "runner = ? WHERE id = ?",
                (kept.state, kept.what, kept.why, kept.do, kept.code, kept.runner, kept.id),
            )

    def order(self, ids: Sequence[str]) -> None:
        """Store the order of the queue."""
        with self._database.write() as db:
            db.executemany(
                "UPDATE downloads SET position = ? WHERE id = ?",
                [(number, download) for number, download in enumerate(ids)],
            )

    def remove(self, ids: Sequence[str]) -> None:
        with self._database.write() as db:
            db.executemany("DELETE FROM downloads WHERE id = ?", [(one,) for one in ids])


def _wanted(text: str) -> Wanted:
    value = json.loads(text)
    value["files"] = tuple(RepoFile(**file) for file in value["files"])
    return Wanted(**value)
