"""Tokenising, embedding and ranking over HTTP, with a scripted engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import httpx2
import pytest

from app.api.http.fields import check
from app.api.http.request import BadRequest
from app.api.http.vectors import EmbeddingFields, RerankFields, write_ranking, write_vectors
from engines.cancel import CancelToken
from engines.errors import EngineError, Unsupported
from engines.llamacpp.engine import LlamaCppEngine
from engines.remote.engine import RemoteEngine
from engines.remote.engine import Served as Asked
from engines.types import ChatRequest, Message, Ranking, ServedPlan, TextDelta, Vectors
from tests.support.made_embedding import RANK, write_bert
from tests.support.scripted import ScriptedEngine
from tests.support.services import make_services
from tests.support.serving import Served, serving
from tests.support.trusting import TrustingProbe


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


@pytest.fixture
def engine(served: Served) -> Iterator[RemoteEngine]:
    """Yield an engine of another Hearth whose model is on this server."""
    asked = Asked(httpx2.Client(trust_env=False), served.url)
    engine = RemoteEngine(lambda _: asked)
    plan = ServedPlan("here", "starter")
    engine.load(plan, lambda _: None, CancelToken())
    yield engine
    engine.close()


def test_one_hearth_asks_another_for_tokens_vectors_and_ranks(engine: RemoteEngine) -> None:
    assert engine.tokenize("a bc def", CancelToken()) == (1, 2, 3)
    assert engine.detokenize([1, 2], CancelToken()) == "x xx"
    assert engine.embed(["a", "b"], CancelToken()).vectors == ((1.0, 0.0), (1.0, 0.0))
    assert engine.rerank("q", ["long", "s"], CancelToken()).scores == (4.0, 1.0)


def test_one_hearth_chats_through_another(engine: RemoteEngine) -> None:
    request = ChatRequest((Message("user", "Hi"),))
    events = list(engine.chat(request, CancelToken()))
    assert "".join(it.text for it in events if isinstance(it, TextDelta)) == "Hello there"


def test_a_server_without_vectors_says_so(served: Served, engine: RemoteEngine) -> None:
    error = Unsupported("It cannot.", "It is for chats.", "Choose another.")
    served.engine.embed = lambda _texts, _cancel: _raise(error)  # type: ignore[assignment,method-assign]
    with pytest.raises(EngineError, match="cannot turn texts into vectors"):
        engine.embed(["a"], CancelToken())


def _raise(error: Exception) -> Vectors:
    raise error


def test_embedding_and_ranking_models_of_llama_cpp_serve_programs(tmp_path: Path) -> None:
    engine = LlamaCppEngine(probe=TrustingProbe())
    with (
        make_services(tmp_path / "data", cast("ScriptedEngine", engine)) as services,
        closing(engine),
        serving(services) as served,
    ):
        bert = services.library.add(write_bert(tmp_path / "bert.gguf"))
        ranker = services.library.add(write_bert(tmp_path / "rank.gguf", RANK))
        given = {"model": bert.id, "input": ["the cat sat", "the cat sat", "a red apple"]}
        found = served.post("/v1/embeddings", given).json()
        same, again, other = (row["embedding"] for row in found["data"])
        assert len(same) == 64
        assert math.dist(same, again) < 1e-3 < math.dist(same, other)
        assert found["usage"]["total_tokens"] > 0
        asked = {"model": ranker.id, "query": "what is red ?", "documents": ["apple", "the sky"]}
        ranked = served.post("/v1/rerank", asked).json()["results"]
        assert sorted(row["index"] for row in ranked) == [0, 1]
        said = {"model": bert.id, "messages": [{"role": "user", "content": "Hello"}]}
        refused = served.post("/v1/chat/completions", said)
        assert refused.status_code >= 400
        assert "Choose a chat model" in refused.text
