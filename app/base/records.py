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


def insert_statement(table: str, kind: type[DataclassInstance], **computed: str) -> str:
    """Return the statement that inserts a record, given its row.

    Args:
        table: The name of the table.
        kind: The class of the record.
        computed: SQL expressions for the columns that are no fields.
    """
    names = [field.name for field in fields(kind)]
    values = [*(f":{name}" for name in names), *computed.values()]
    columns = ", ".join((*names, *computed))
    return f"INSERT INTO {table} ({columns}) VALUES ({', '.join(values)})"  # noqa: S608  our own words


def upsert_clause(kind: type[DataclassInstance]) -> str:
    """Return the clause that makes an insert statement update the record with the same id."""
    changes = (
        f"{field.name} = excluded.{field.name}" for field in fields(kind) if field.name != "id"
    )
    return f" ON CONFLICT (id) DO UPDATE SET {', '.join(changes)}"


def to_row(record: DataclassInstance) -> dict[str, object]:
    """Return a record's values by column; a tuple and a mapping become JSON."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {
        name: json.dumps(dict(value) if isinstance(value, Mapping) else value)
        if isinstance(value, Mapping | tuple)
        else value
        for name, value in values.items()
    }


def from_row(kind: type[Record], columns: sqlite3.Row) -> Record:
    """Return the record of a row; columns that are not fields are ignored."""
    return kind(**{name: read(columns[name]) for name, read in _readers(kind)})


@cache
def _readers(kind: type[Record]) -> tuple[tuple[str, Any], ...]:
    """Return the name of each field, and the function that makes its value from a column."""
    types = get_type_hints(kind)
    return tuple((field.name, _reader(types[field.name])) for field in fields(kind))


def _reader(declared: Any) -> Any:
    origin = get_origin(declared)
    if origin is tuple:
        return lambda text: tuple(json.loads(text))
    return json.loads if origin is Mapping else lambda value: value
