"""The models and drafters that the user has added, beside what is known of all models."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from app.base.db import Database
from app.models.library.store.file_hashes import FileHashes
from app.models.library.store.known_headers import KnownHeaders
from app.models.library.store.known_models import KnownModels, free_id, taken_ids
from app.models.library.values.entry import ModelEntry


class ModelStore:
    """The table of models. Each method is one transaction, safe from any thread.

    known: what is remembered of models wherever they lie. hashes, headers: of their files.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.known = KnownModels(database)
        self.hashes = FileHashes(database)
        self.headers = KnownHeaders(database)

    def models(self) -> list[ModelEntry]:
        """Return the models in the order in which they were added."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT id, name, path, drafts FROM models ORDER BY added, rowid"
            ).fetchall()
        return [
            ModelEntry(row["id"], row["name"], Path(row["path"]), drafts=bool(row["drafts"]))
            for row in rows
        ]

    def add(self, name: str, path: Path, *, drafts: bool, reserved: Iterable[str]) -> str:
        """Add a model; returns its id, which none has or had. One that is there keeps its id.

        reserved: ids that are taken beside those that are stored.
        """
        with self._database.write() as db:
            # Chosen in here, as another process may be adding one of the same name.
            model_id = free_id(name, {*reserved, *taken_ids(db)})
            db.execute(
                "INSERT INTO models (id, name, path, added, drafts) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (path) DO NOTHING",
                (model_id, name, str(path), time.time(), drafts),
            )
            row = db.execute("SELECT id FROM models WHERE path = ?", (str(path),)).fetchone()
        return str(row["id"])

    def remove(self, model_id: str) -> None:
        with self._database.write() as db:
            db.execute("DELETE FROM models WHERE id = ?", (model_id,))
