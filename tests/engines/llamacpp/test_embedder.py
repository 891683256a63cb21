"""Vectors and ranks in this process: real llama.cpp on small models with random weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import Cancelled, MessageTooLong, NotAChatModel, Unsupported
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.probe import Probe
from engines.types import LlamaPlan, LoadedModel
from tests.engines.asking import answer, ask
from tests.engines.llamacpp.conftest import Load
from tests.support.made_embedding import (
    CLS,
    CONTEXT,
    LAST,
    MEAN,
    RANK,
    write_bert,
    write_pooling_llama,
)

TEXTS = ["the cat sat on the mat", "a dog is on a rug", "what is the sky ?", "apple"]


def loaded_of(engine: LlamaCppEngine, path: Path) -> LoadedModel:
    plan = LlamaPlan(path, context=CONTEXT, threads=1, batch_threads=1)
    return engine.load(plan, lambda _: None, CancelToken())


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert") / "bert.gguf")


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pooling_llama(tmp_path_factory.mktemp("llama") / "llama.gguf")


@pytest.fixture(scope="module")
def ranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("rank") / "rank.gguf", RANK)


def embedded(engine: LlamaCppEngine, *texts: str | Sequence[int]) -> list[tuple[float, ...]]:
    return list(engine.embed(texts, CancelToken()).vectors)


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_texts_have_vectors_of_length_one(
    load: Load, name: str, request: pytest.FixtureRequest
) -> None:
    engine = load(request.getfixturevalue(name), context=CONTEXT)
    found = engine.embed(TEXTS, CancelToken())
    assert len(found.vectors) == len(TEXTS)
    assert all(len(vector) == 64 for vector in found.vectors)
    assert all(math.hypot(*vector) == pytest.approx(1.0) for vector in found.vectors)
    tokens = [engine.tokenize(text, CancelToken()) for text in TEXTS]
    assert found.tokens == sum(map(len, tokens))
    # The same alone, beside others, and given as tokens.
    for text, its, vector in zip(TEXTS, tokens, found.vectors, strict=True):
        assert embedded(engine, text)[0] == pytest.approx(vector, abs=1e-3)
        assert embedded(engine, its)[0] == pytest.approx(vector, abs=1e-3)


def test_the_file_says_how_vectors_are_made(load: Load, tmp_path: Path) -> None:
    vectors = [
        embedded(load(write_bert(tmp_path / f"{pooling}.gguf", pooling), context=CONTEXT), TEXTS[0])
        for pooling in (MEAN, CLS, None)
    ]
    assert vectors[0][0] != pytest.approx(vectors[1][0], abs=1e-2)
    assert vectors[2][0] == pytest.approx(vectors[0][0], abs=1e-3)
    last = load(write_pooling_llama(tmp_path / "last.gguf", LAST), context=CONTEXT)
    mean = load(write_pooling_llama(tmp_path / "mean.gguf", MEAN), context=CONTEXT)
    assert embedded(last, TEXTS[0])[0] != pytest.approx(embedded(mean, TEXTS[0])[0], abs=1e-2)


def test_more_texts_than_fit_one_evaluation(load: Load, bert: Path) -> None:
    engine = load(bert, context=CONTEXT)
    texts = [TEXTS[number % 4] for number in range(50)]
    found = embedded(engine, *texts)
    for number, vector in enumerate(found):
        assert vector == pytest.approx(found[number % 4], abs=1e-3)


def test_documents_are_ranked(load: Load, ranker: Path) -> None:
    engine = LlamaCppEngine()
    report = loaded_of(engine, ranker)
    assert (report.kind, report.dimensions) == ("rerank", 0)
    try:
        ranking = engine.rerank("what is on the mat ?", TEXTS, CancelToken())
        assert len(set(ranking.scores)) == len(TEXTS)
        assert ranking.tokens > 0
        turned = engine.rerank("what is on the mat ?", TEXTS[::-1], CancelToken())
        assert turned.scores[::-1] == pytest.approx(ranking.scores, abs=1e-3)
        other = engine.rerank("who is the dog ?", TEXTS, CancelToken())
        assert other.scores != pytest.approx(ranking.scores, abs=1e-3)
        with pytest.raises(Unsupported, match="into vectors"):
            engine.embed(TEXTS, CancelToken())
    finally:
        engine.close()


def test_what_a_model_is_made_for_is_told(load: Load, bert: Path) -> None:
    engine = LlamaCppEngine()
    report = loaded_of(engine, bert)
    try:
        assert (report.kind, report.dimensions, report.context) == ("embedding", 64, CONTEXT)
        assert engine.status().state == "ready"
        with pytest.raises(NotAChatModel):
            answer(engine, ask("Hello"))
        with pytest.raises(NotAChatModel):
            engine.measure(ask("Hello"), CancelToken())
        with pytest.raises(Unsupported, match="judge"):
            engine.rerank("a", ["b"], CancelToken())
        assert engine.detokenize(engine.tokenize("the cat", CancelToken()), CancelToken())
    finally:
        engine.close()
    assert engine.status().state == "stopped"
    chat = load(context=256)
    with pytest.raises(Unsupported, match="made for chats"):
        chat.embed(["a"], CancelToken())


def test_what_cannot_be_read_is_refused_and_harms_nothing(load: Load, bert: Path) -> None:
    engine = load(bert, context=CONTEXT)
    with pytest.raises(MessageTooLong, match="text number 2"):
        embedded(engine, "cat", "cat " * CONTEXT)
    with pytest.raises(Unsupported, match="not a token"):
        embedded(engine, [10_000])
    with pytest.raises(Unsupported, match="nothing to read"):
        embedded(engine, [])
    cancelled = CancelToken()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        engine.embed(["cat"], cancelled)
    assert len(embedded(engine, "cat")) == 1
    assert embedded(engine) == []


def test_millions_of_words_are_refused_before_they_are_tokenised(load: Load, llama: Path) -> None:
    engine = load(llama, context=CONTEXT)
    with pytest.raises(MessageTooLong, match="at least"):
        embedded(engine, "cat", "a word " * 1_000_000)


def test_the_probe_tries_such_models(tmp_path: Path, bert: Path, ranker: Path) -> None:
    for path in (bert, ranker):
        plan = LlamaPlan(path, context=CONTEXT, threads=1, batch_threads=1)
        Probe(tmp_path).require_safe(plan, CancelToken())


def test_an_embedding_model_makes_room_for_a_chat_model(load: Load, bert: Path) -> None:
    engine = load(bert, context=CONTEXT)
    plan = LlamaPlan(load(context=256).chat_model.plan.model, 256, 1, 1)
    assert engine.load(plan, lambda _: None, CancelToken()).kind == "chat"
    assert answer(engine, ask("Hello", max_tokens=4))
