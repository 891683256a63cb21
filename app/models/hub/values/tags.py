"""Reads what the tags and the name of a repository tell of its model: pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_MTP: Final = re.compile(r"(?<![a-z0-9])mtp(?![a-z0-9])", re.IGNORECASE)
_SIZE: Final = re.compile(r"(?<![a-z0-9])(e?)(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", re.IGNORECASE)
_UNITS: Final = {"b": 1_000_000_000, "m": 1_000_000}


def drafts_ahead(repo: str, tags: Iterable[str]) -> bool:
    """Whether a repository says of itself that its model has MTP; many that have it do not."""
    return any(_MTP.search(text) for text in (repo, *tags))


def parameters_in(name: str) -> int | None:
    """The parameters that a name tells: 26 billion of “gemma-4-26B-A4B”. None if it tells none.

    “E2B” counts what is in use for a token; with its embeddings such a model has about twice that.
    """
    found = [
        float(number) * _UNITS[unit.lower()] * (2 if effective else 1)
        for effective, number, unit in _SIZE.findall(name)
    ]
    return round(max(found)) if found else None
