"""Records in a real table: each is read back as it was written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace

import pytest

from app.base.records import from_row, insert_statement, to_row, upsert_clause


@dataclass(frozen=True)
class Tool:
    id: str
    name: str
    uses: tuple[str, ...]
    sizes: Mapping[str, object]
    weight: float | None = None


HAMMER = Tool("1", "Hammer; DROP TABLE tools", ("nails", "“walls”"), {"length": 30, "grip": True})


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as made:
        made.row_factory = sqlite3.Row
        made.execute(
            "CREATE TABLE tools (id TEXT PRIMARY KEY, name TEXT, uses TEXT, sizes TEXT,"
            " weight REAL, position INTEGER)"
        )
        yield made


def tools(db: sqlite3.Connection) -> list[Tool]:
    return [from_row(Tool, it) for it in db.execute("SELECT * FROM tools ORDER BY position")]


def test_a_record_comes_back_as_it_was(db: sqlite3.Connection) -> None:
    db.execute(insert_statement("tools", Tool, position="7"), to_row(HAMMER))
    assert tools(db) == [HAMMER]
    assert db.execute("SELECT position FROM tools").fetchone()[0] == 7


def test_a_record_with_the_same_id_takes_the_new_values(db: sqlite3.Connection) -> None:
    add = insert_statement("tools", Tool, position="(SELECT COUNT(*) FROM tools)")
    heavy = replace(HAMMER, name="Sledgehammer", weight=5.0)
    for it in (HAMMER, replace(HAMMER, id="2"), heavy):
        db.execute(add + upsert_clause(Tool), to_row(it))
    assert tools(db) == [heavy, replace(HAMMER, id="2")]


def test_a_second_record_with_the_same_id_is_refused(db: sqlite3.Connection) -> None:
    db.execute(insert_statement("tools", Tool), to_row(HAMMER))
    with pytest.raises(sqlite3.IntegrityError):
        db.execute(insert_statement("tools", Tool), to_row(HAMMER))
