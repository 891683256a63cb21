"""Ids of everything in the database."""

from __future__ import annotations


def new_id() -> str:
    """Return a random id of 32 hexadecimal digits."""
    import uuid

    return uuid.uuid4().hex
