"""What families of embedding models are told before a question, and before a passage.

A model finds less where it is not asked as it was taught. From the makers' model cards; a model of
no family here gets the texts as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class EmbeddingFamily:
    """The prompts of a family; `{}` stands for the text.

    dimensions: of a vector, as many as its beginning needs to be good by itself; 0 is all of them.
    Families that were taught so (Matryoshka representation learning) say which lengths are.
    """

    name: str
    query: str = "{}"
    passage: str = "{}"
    dimensions: int = 0

    def asked(self, question: str) -> str:
        return self.query.replace("{}", question)

    def told(self, passage: str) -> str:
        return self.passage.replace("{}", passage)

    def kept(self, dimensions: int) -> int:
        """Return how many of a vector's dimensions are kept: a multiple of eight."""
        return min(self.dimensions or dimensions, dimensions) // 8 * 8


_TASK: Final = "Given a web search query, retrieve relevant passages that answer the query"

_FAMILIES: Final[tuple[tuple[Callable[[str, str], bool], EmbeddingFamily], ...]] = (
    (
        lambda architecture, name: architecture == "gemma-embedding" or "embeddinggemma" in name,
        EmbeddingFamily(
            "EmbeddingGemma", "task: search result | query: {}", "title: none | text: {}", 256
        ),
    ),
    (
        lambda architecture, _name: architecture == "qwen3",
        EmbeddingFamily("Qwen3 Embedding", f"Instruct: {_TASK}\nQuery:{{}}", dimensions=256),
    ),
    (
        lambda _architecture, name: "e5" in _words(name) and "instruct" in name,
        EmbeddingFamily("E5 instruct", f"Instruct: {_TASK}\nQuery: {{}}"),
    ),
    (
        lambda _architecture, name: "e5" in _words(name),
        EmbeddingFamily("E5", "query: {}", "passage: {}"),
    ),
    (
        lambda architecture, _name: architecture == "nomic-bert-moe",
        EmbeddingFamily("Nomic Embed 2", "search_query: {}", "search_document: {}", 256),
    ),
    (
        lambda architecture, _name: architecture == "nomic-bert",
        EmbeddingFamily("Nomic Embed", "search_query: {}", "search_document: {}"),
    ),
    (
        lambda _architecture, name: "arctic-embed" in name.replace(" ", "-") and "v2" in name,
        EmbeddingFamily("Arctic Embed 2", "query: {}", dimensions=256),
    ),
    (
        lambda _architecture, name: (
            ("bge" in _words(name) and "en" in _words(name)) or "mxbai" in name
        ),
        EmbeddingFamily("BGE", "Represent this sentence for searching relevant passages: {}"),
    ),
)

OTHER: Final = EmbeddingFamily("other")

FAMILIES: Final = (*(it for _, it in _FAMILIES), OTHER)
"""All families, the one to be preferred first: small ones that know many languages."""


def family_of(architecture: str, name: str) -> EmbeddingFamily:
    """Tell the family of an embedding model by its architecture and name."""
    return next((it for is_it, it in _FAMILIES if is_it(architecture, name.lower())), OTHER)


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", name))
