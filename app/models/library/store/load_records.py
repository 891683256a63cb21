"""The loads of models, predicted and real, in the database."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, fields
from typing import Final

from app.base.db import Database
from app.models.library.values.load_records import LoadRecord
from engines.types import LlamaPlan

MOST_LOADS: Final = 500
_NAMES: Final = tuple(field.name for field in fields(LoadRecord))
_ADD: Final = (
    f"INSERT INTO loads ({', '.join(f'[{name}]' for name in _NAMES)})"  # noqa: S608  our own names
    f" VALUES ({', '.join('?' * len(_NAMES))})"
)


class LoadStore:
    """The table of loads; each method is one transaction and can be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, load: LoadRecord) -> None:
        """Add a load as the newest; beyond 500 loads, drop the oldest."""
        with self._database.write() as db:
            db.execute(_ADD, tuple(asdict(load).values()))
            db.execute(
                "DELETE FROM loads WHERE id NOT IN (SELECT id FROM loads ORDER BY id DESC LIMIT ?)",
                (MOST_LOADS,),
            )

    def last(self, model: str) -> LoadRecord | None:
        """Return the newest load of a model."""
        with self._database.read() as db:
            row = db.execute(
                "SELECT * FROM loads WHERE model = ? ORDER BY id DESC LIMIT 1", (model,)
            ).fetchone()
        return _record(row) if row else None

    def last_of(self, plan: LlamaPlan) -> LoadRecord | None:
        """Return the newest load of a model with the same plan."""
        with self._database.read() as db:
            row = db.execute(
                """SELECT * FROM loads
                WHERE model = ? AND context = ? AND kv_type = ? AND mmap = ? AND draft_max = ?
                ORDER BY id DESC LIMIT 1""",
                (str(plan.model), plan.context, plan.kv_type, plan.mmap, plan.draft_max),
            ).fetchone()
        return _record(row) if row else None

    def on_device(self, device: str, count: int) -> list[LoadRecord]:
        """Return the newest loads on a device, the last one first."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT * FROM loads WHERE device = ? ORDER BY id DESC LIMIT ?", (device, count)
            ).fetchall()
        return [_record(row) for row in rows]


def _record(row: sqlite3.Row) -> LoadRecord:
    flags = {name: bool(row[name]) for name in ("mmap", "exact")}
    return LoadRecord(**{name: row[name] for name in _NAMES} | flags)
