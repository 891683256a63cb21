"""Each family of embedding models gets its texts in the form of its training."""

from __future__ import annotations

import pytest

from engines.models.embedding import FAMILIES, OTHER, family_of

TASK = "Instruct: Given a web search query, retrieve relevant passages that answer the query"


@pytest.mark.parametrize(
    ("architecture", "name", "family", "asked", "told", "kept"),
    [
        (
            "gemma-embedding", "Embeddinggemma 300M", "EmbeddingGemma",
            "task: search result | query: rent?", "title: none | text: rent", 256,
        ),
        (
            "qwen3", "Qwen3 Embedding 0.6B", "Qwen3 Embedding",
            f"{TASK}\nQuery:rent?", "rent", 256,
        ),
        ("bert", "multilingual-e5-small", "E5", "query: rent?", "passage: rent", 768),
        (
            "bert", "multilingual-e5-large-instruct", "E5 instruct",
            f"{TASK}\nQuery: rent?", "rent", 768,
        ),
        (
            "nomic-bert-moe", "nomic-embed-text-v2", "Nomic Embed 2",
            "search_query: rent?", "search_document: rent", 256,
        ),
        ("bert", "snowflake-arctic-embed-m-v2.0", "Arctic Embed 2", "query: rent?", "rent", 256),
        (
            "bert", "bge-small-en-v1.5", "BGE",
            "Represent this sentence for searching relevant passages: rent?", "rent", 768,
        ),
        ("bert", "bge-m3", "other", "rent?", "rent", 768),
        ("bert", "all-MiniLM-L6-v2", "other", "rent?", "rent", 768),
    ],
)  # fmt: skip
def test_a_family_is_told_by_its_architecture_or_its_name(
    architecture: str, name: str, family: str, asked: str, told: str, kept: int
) -> None:
    found = family_of(architecture, name)
    assert found.name == family
    assert (found.query_text("rent?"), found.passage_text("rent")) == (asked, told)
    assert found.kept_dimensions(768) == kept


def test_braces_in_a_text_stay_as_they_are() -> None:
    assert family_of("bert", "e5").passage_text("{} and {name}") == "passage: {} and {name}"
    assert OTHER.kept_dimensions(70) == 64
    assert FAMILIES[-1] is OTHER
