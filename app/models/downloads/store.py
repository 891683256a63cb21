"""The queue of downloads in the database, where it survives a restart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from app.base.db import Database
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.hub.values.hub import RepoFile


class DownloadStore:
    """The table of downloads; each method is one transaction and can be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def downloads(self) -> list[Download]:
        """Return the downloads in the order of the queue."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT id, wanted, state, what, why, what_to_do AS do, code, runner "
                "FROM downloads ORDER BY position, rowid"
            ).fetchall()
        return [
            Download(**{**dict(row), "wanted": _request_from_json(row["wanted"])}) for row in rows
        ]

    def add(self, download: Download) -> None:
        """Add a download at the end of the queue."""
        with self._database.write() as db:
            db.execute(
                "INSERT INTO downloads (id, position, state, wanted) VALUES "
                "(:id, (SELECT COALESCE(MAX(position), 0) + 1 FROM downloads), :state, :wanted)",
                {**vars(download), "wanted": json.dumps(asdict(download.wanted))},
            )

    def update(self, download: Download) -> None:
        """Update a download, except for its files and its place in the queue."""
        with self._database.write() as db:
            db.execute(
                "UPDATE downloads SET state = :state, what = :what, why = :why, "
                "what_to_do = :do, code = :code, runner = :runner WHERE id = :id",
                vars(download),
            )

    def order(self, ids: Sequence[str]) -> None:
        """Store the order of the queue."""
        with self._database.write() as db:
            db.executemany(
                "UPDATE downloads SET position = ? WHERE id = ?",
                [(number, download) for number, download in enumerate(ids)],
            )

    def remove(self, ids: Sequence[str]) -> None:
        """Delete downloads, given by their ids; unknown ids are ignored."""
        with self._database.write() as db:
            db.executemany("DELETE FROM downloads WHERE id = ?", [(download,) for download in ids])


def _request_from_json(text: str) -> DownloadRequest:
    value = json.loads(text)
    value["files"] = tuple(RepoFile(**file) for file in value["files"])
    return DownloadRequest(**value)
