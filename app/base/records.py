"""Rows of the database as dataclasses: the fields of a record are the columns of its table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_origin, get_type_hints

if TYPE_CHECKING:
    import sqlite3

    from _typeshed import DataclassInstance

Record = TypeVar("Record", bound="DataclassInstance")


def inserting(table: str, kind: type[DataclassInstance], **computed: str) -> str:
    """Return the statement that inserts a record, given its `row`.

    Args:
        table: The name of the table.
        kind: The class of the record.
        computed: SQL expressions for the columns that are no fields.
    """
    names = [it.name for it in fields(kind)]
    values = [*(f":{name}" for name in names), *computed.values()]
    listed = ", ".join((*names, *computed))
    return f"INSERT INTO {table} ({listed}) VALUES ({', '.join(values)})"  # noqa: S608  our own words


def replacing(kind: type[DataclassInstance]) -> str:
    """Return the end of that statement with which it changes a record that has the same id."""
    changes = (f"{it.name} = excluded.{it.name}" for it in fields(kind) if it.name != "id")
    return f" ON CONFLICT (id) DO UPDATE SET {', '.join(changes)}"


def row(record: DataclassInstance) -> dict[str, object]:
    """Return a record's values by column; a tuple and a mapping become JSON."""
    values = {it.name: getattr(record, it.name) for it in fields(record)}
    return {
        name: json.dumps(dict(value) if isinstance(value, Mapping) else value)
        if isinstance(value, Mapping | tuple)
        else value
        for name, value in values.items()
    }


def record(kind: type[Record], found: sqlite3.Row) -> Record:
    """Return the record of a row; columns that are no fields are left out."""
    return kind(**{name: read(found[name]) for name, read in _readers(kind)})


@cache
def _readers(kind: type[Record]) -> tuple[tuple[str, Any], ...]:
    """Return the name of each field, and the function that makes its value from a column."""
    types = get_type_hints(kind)
    return tuple((it.name, _reader(types[it.name])) for it in fields(kind))


def _reader(declared: Any) -> Any:
    origin = get_origin(declared)
    if origin is tuple:
        return lambda text: tuple(json.loads(text))
    return json.loads if origin is Mapping else lambda value: value
