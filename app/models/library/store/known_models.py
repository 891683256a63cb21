"""The ids, names, last use and own settings of models, wherever their files are."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.base.db import Database


@dataclass(frozen=True)
class ModelUse:
    """The name and last use of a model.

    Attributes:
        name: The name that the user gave; None if the user gave none.
        last_used: Seconds since 1970.
    """

    name: str | None = None
    last_used: float | None = None


class KnownModels:
    """The table of all models ever found.

    Each method is one transaction and can be called from any thread and any process.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def ids(
        self, identities_and_names: Sequence[tuple[str, str]], reserved: Iterable[str]
    ) -> dict[str, str]:
        """Return the id of each identity: the one it had before, or a new one.

        An identity keeps its id permanently, so that settings can refer to it. The id of a model
        that is gone is never given to another.

        Args:
            identities_and_names: Identities, each with a name to make an id from.
            reserved: Ids that are taken.
        """
        identities = {identity for identity, _ in identities_and_names}
        stored_ids = self._stored_ids(identities)
        if len(stored_ids) == len(identities):
            return stored_ids
        with self._database.write() as db:
            # Another process may have added them while this one waited for the write lock.
            stored_ids = self._stored_ids(identities)
            taken = {*reserved, *used_ids(db)}
            for identity, name in identities_and_names:
                if identity not in stored_ids:
                    stored_ids[identity] = free_id(name, taken)
                    taken.add(stored_ids[identity])
                    db.execute(
                        "INSERT INTO known_models (id, identity) VALUES (?, ?)",
                        (stored_ids[identity], identity),
                    )
        return stored_ids

    def has(self, model_id: str) -> bool:
        """Return whether a model was ever found under this id."""
        with self._database.read() as db:
            query = "SELECT 1 FROM known_models WHERE id = ?"
            return db.execute(query, (model_id,)).fetchone() is not None

    def remembered(self) -> dict[str, ModelUse]:
        """Return the names and last uses of models, by id."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT id, name, last_used FROM known_models "
                "WHERE name IS NOT NULL OR last_used IS NOT NULL"
            ).fetchall()
        return {row["id"]: ModelUse(row["name"], row["last_used"]) for row in rows}

    def rename(self, model_id: str, name: str) -> None:
        """Store the name that the user gave a model."""
        with self._database.write() as db:
            db.execute(
                "INSERT INTO known_models (id, name) VALUES (?, ?) "
                "ON CONFLICT (id) DO UPDATE SET name = excluded.name",
                (model_id, name),
            )

    def used(self, model_id: str) -> None:
        """Record that a model has answered just now."""
        with self._database.write() as db:
            db.execute(
                "INSERT INTO known_models (id, last_used) VALUES (?, ?) "
                "ON CONFLICT (id) DO UPDATE SET last_used = excluded.last_used",
                (model_id, time.time()),
            )

    def settings(self, model_id: str) -> dict[str, object]:
        """Return the settings of this model only."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT name, value FROM model_settings WHERE model_id = ? ORDER BY name",
                (model_id,),
            ).fetchall()
        return {row["name"]: json.loads(row["value"]) for row in rows}

    def change_settings(self, model_id: str, values: Mapping[str, object]) -> None:
        """Change settings of this model; None resets a setting."""
        with self._database.write() as db:
            for name, value in values.items():
                if value is None:
                    db.execute(
                        "DELETE FROM model_settings WHERE model_id = ? AND name = ?",
                        (model_id, name),
                    )
                else:
                    db.execute(
                        "INSERT OR REPLACE INTO model_settings (model_id, name, value) "
                        "VALUES (?, ?, ?)",
                        (model_id, name, json.dumps(value)),
                    )

    def forget(self, model_id: str) -> None:
        """Delete everything about an added model, so that another can have its id."""
        with self._database.write() as db:
            db.execute("DELETE FROM known_models WHERE id = ?", (model_id,))
            db.execute("DELETE FROM model_settings WHERE model_id = ?", (model_id,))

    def _stored_ids(self, identities: set[str]) -> dict[str, str]:
        with self._database.read() as db:
            rows = db.execute("SELECT id, identity FROM known_models").fetchall()
        return {row["identity"]: row["id"] for row in rows if row["identity"] in identities}


def used_ids(db: sqlite3.Connection) -> set[str]:
    """Return the ids of all models that were added or ever found."""
    rows = db.execute("SELECT id FROM known_models UNION SELECT id FROM models")
    return {row["id"] for row in rows}


def free_id(name: str, taken: set[str]) -> str:
    """Turn a name into an unused id of lower-case letters, digits, dots and hyphens."""
    base = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") or "model"
    candidate, number = base, 2
    while candidate in taken:
        candidate, number = f"{base}-{number}", number + 1
    return candidate
