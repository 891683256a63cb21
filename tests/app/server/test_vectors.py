"""Tokens, vectors and ranks over HTTP, as far as a scripted engine has them."""

from __future__ import annotations

import math

import pytest

from app.server.fields import check
from app.server.request import BadRequest
from app.server.vectors import EmbeddingFields, RerankFields, write_ranking, write_vectors
from engines.types import Ranking, Vectors
from tests.support.serving import Served


def test_vectors_are_shortened_to_length_one() -> None:
    fields = check(EmbeddingFields, {"model": "m", "input": ["a"], "dimensions": 2})
    (row,) = write_vectors(fields, "m", Vectors(((0.6, 0.0, 0.8),), 3))["data"]
    assert row["embedding"] == [1.0, 0.0]
    assert math.hypot(*row["embedding"]) == pytest.approx(1)
    fields = check(EmbeddingFields, {"model": "m", "input": "a", "dimensions": 9})
    with pytest.raises(BadRequest, match="9 dimensions"):
        write_vectors(fields, "m", Vectors(((0.6, 0.8),), 1))


def test_vectors_come_as_bytes_where_a_client_asks_for_that() -> None:
    fields = check(EmbeddingFields, {"model": "m", "input": "a", "encoding_format": "base64"})
    (row,) = write_vectors(fields, "m", Vectors(((1.0, 0.0),), 1))["data"]
    assert row["embedding"] == "AACAPwAAAAA="


@pytest.mark.parametrize(
    ("given", "texts"),
    [("a", ["a"]), (["a", "b"], ["a", "b"]), ([1, 2], [[1, 2]]), ([[1], [2]], [[1], [2]])],
)
def test_what_can_be_embedded(given: object, texts: object) -> None:
    assert check(EmbeddingFields, {"model": "m", "input": given}).texts() == texts


def test_the_best_document_comes_first() -> None:
    value = {"model": "m", "query": "q", "documents": ["a", {"text": "b"}, "c"], "top_n": 2}
    fields = check(RerankFields, {**value, "return_documents": True})
    ranked = write_ranking(fields, "m", Ranking((0.1, 0.9, 0.5), 12))["results"]
    assert [(it["index"], it["document"]["text"]) for it in ranked] == [(1, "b"), (2, "c")]


def test_nothing_to_embed_is_said(served: Served) -> None:
    answer = served.post("/v1/embeddings", {"model": "starter", "input": []})
    assert answer.status_code == 400
    assert "nothing to embed" in answer.json()["error"]["message"]
