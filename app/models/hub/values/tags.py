"""Reads facts about a model from its repository's tags and name: pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_MTP: Final = re.compile(r"(?<![a-z0-9])mtp(?![a-z0-9])", re.IGNORECASE)
_SIZE: Final = re.compile(r"(?<![a-z0-9])(e?)(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", re.IGNORECASE)
_UNITS: Final = {"b": 1_000_000_000, "m": 1_000_000}


def drafts_ahead(repo: str, tags: Iterable[str]) -> bool:
    """Return whether a repository says that its model has MTP; many with MTP do not say so."""
    return any(_MTP.search(text) for text in (repo, *tags))


def parameters_in(name: str) -> int | None:
    """Return the number of parameters that a name states: 26 billion for “gemma-4-26B-A4B”.

    “E2B” counts only the parameters used for each token; with its embeddings, such a model has
    about twice as many.

    Returns:
        None if the name states no number.
    """
    counts = [
        float(number) * _UNITS[unit.lower()] * (2 if effective else 1)
        for effective, number, unit in _SIZE.findall(name)
    ]
    return round(max(counts)) if counts else None
