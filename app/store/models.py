"""The models and drafters that the user has added, in the database."""

from __future__ import annotations

import time
from pathlib import Path

from app.core.models import ModelEntry
from app.store.db import Database


class ModelStore:
    """Every method is one transaction and may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def models(self) -> list[ModelEntry]:
        """In the order in which they were added."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT id, name, path, drafts FROM models ORDER BY added, rowid"
            ).fetchall()
        return [
            ModelEntry(row["id"], row["name"], Path(row["path"]), drafts=bool(row["drafts"]))
            for row in rows
        ]

    def add(self, entry: ModelEntry) -> None:
        with self._database.write() as db:
            db.execute(
                "INSERT INTO models (id, name, path, added, drafts) VALUES (?, ?, ?, ?, ?)",
                (entry.id, entry.name, str(entry.path), time.time(), entry.drafts),
            )

    def remove(self, model_id: str) -> None:
        with self._database.write() as db:
            db.execute("DELETE FROM models WHERE id = ?", (model_id,))
