"""Filtering and sorting the list of models."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.models.library.values.entry import ModelEntry
from app.models.library.values.overview import ListedFacts, Order, Overview, arranged

SMALL = ModelEntry("small", "Small", Path("/m/small.gguf"), source="hub", repo="ada/Small-GGUF")
LARGE = ModelEntry("large", "large", Path("/m/x.gguf"), source="ollama", last_used=200.0)
OTHER = ModelEntry("other", "Other", Path("/m/other.gguf"), last_used=100.0)
OVERVIEW = Overview((SMALL, LARGE, OTHER), sizes={"small": 1, "large": 30, "other": 2})
FACTS = {"large": ListedFacts("large", "Q4_K_M", "embedded")}


@pytest.mark.parametrize(
    ("order", "ids"),
    [
        ("name", ["large", "other", "small"]),
        ("size", ["large", "other", "small"]),
        ("used", ["large", "other", "small"]),
        ("unused", ["small", "other", "large"]),
    ],
)
def test_orders(order: Order, ids: list[str]) -> None:
    assert [it.id for it in arranged(OVERVIEW, FACTS, "", order)] == ids


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ("ollama", ["large"]),
        ("q4_k", ["large"]),
        ("ADA", ["small"]),
        ("ada hub", ["small"]),
        ("ada ollama", []),
        ("gguf", ["large", "other", "small"]),
    ],
)
def test_every_word_has_to_be_found(words: str, ids: list[str]) -> None:
    assert [it.id for it in arranged(OVERVIEW, FACTS, words, "name")] == ids
