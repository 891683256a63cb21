"""The models and drafters that the user has added, with the stored facts about all models."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from app.base.db import Database
from app.models.library.store.file_hashes import FileHashes
from app.models.library.store.known_headers import KnownHeaders
from app.models.library.store.known_models import KnownModels, free_id, used_ids
from app.models.library.values.entry import ModelEntry


class ModelStore:
    """The table of added models; each method is one transaction and can be called from any thread.

    Attributes:
        known: Facts about all models, wherever their files are.
        hashes: Hashes of the models' files.
        headers: Headers of the models' files.
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
        """Add a model and return its id, which no other model has or had.

        A model that was added before keeps its id.

        Args:
            reserved: Ids that are taken, besides the stored ones.
        """
        with self._database.write() as db:
            # Choose the id inside the transaction: another process can add the same name.
            model_id = free_id(name, {*reserved, *used_ids(db)})
            db.execute(
                "INSERT INTO models (id, name, path, added, drafts) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (path) DO NOTHING",
                (model_id, name, str(path), time.time(), drafts),
            )
            row = db.execute("SELECT id FROM models WHERE path = ?", (str(path),)).fetchone()
        return str(row["id"])

    def remove(self, model_id: str) -> None:
        """Remove a model from the added ones; its other stored facts stay."""
        with self._database.write() as db:
            db.execute("DELETE FROM models WHERE id = ?", (model_id,))
