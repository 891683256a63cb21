"""The lower bound on the tokens of a text: never too high, and far faster than tokenising."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import ContextFull, EngineFailed, MessageTooLong
from engines.llamacpp.fewest import FewestTokens
from engines.llamacpp.vocabulary import Vocabulary
from engines.types import ChatRequest, Message
from tests.engines.contract import ask, run
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.random_models import (
    byte_tokenizer,
    sentencepiece_tokenizer,
    write_random_llama,
)
from tests.support.made_gguf import STARTER

WORDS = 3_000_000
SOON_S = 3.0
"""Tokenising this many words takes more than ten seconds; rendering and counting takes one."""


def samples(vocabulary: Vocabulary) -> Iterator[str]:
    """Yield texts that are hard to bound: of long tokens, of blanks of all kinds, of markers."""
    rolled = random.Random(7)
    pieces = sorted(
        (vocabulary.display_bytes(it).decode(errors="replace") for it in range(vocabulary.size)),
        key=lambda it: (it.count(" "), len(it)),
    )
    yield "".join(pieces)
    yield "".join(pieces[-40:] * 20)
    yield "".join(rolled.choices(pieces, k=3000))
    yield " ".join(rolled.choices(pieces, k=3000))
    for part in ("word ", " ", "\n\n", "▁", " ▁", "▁ x", "9", "ž", "🙂", "-"):
        yield part * 700
    yield "".join(chr(rolled.randrange(1, 0xD7FF)) for _ in range(5000))
    for marker in (*vocabulary.control_texts, *vocabulary.user_defined_texts):
        yield f"   {marker}\n\n  " * 50


@pytest.mark.parametrize("made", ["starter", "gpt-4o", "llama-bpe", "sentencepiece"])
def test_no_text_has_fewer_tokens_than_are_told(load: Load, tmp_path: Path, made: str) -> None:
    model = STARTER
    if made != "starter":
        spelled = sentencepiece_tokenizer(256) if made == "sentencepiece" else byte_tokenizer(made)
        model = write_random_llama(tmp_path / "m.gguf", tokenizer=spelled)
    loaded = load(model).chat_model
    vocabulary = loaded.model.vocabulary
    bounds = [(vocabulary.fewest(it), len(vocabulary.tokenise(it))) for it in samples(vocabulary)]
    assert all(fewest <= count for fewest, count in bounds)
    assert any(fewest for fewest, _ in bounds)


def test_words_digits_and_letters_bound_the_tokens() -> None:
    every = [bytes([byte]) for byte in range(0x100)]
    few = FewestTokens([*every, b" many", b" a b", b"123", "ž".encode() * 4])
    assert few.of(b" many" * 10) == 10
    assert few.of(b"a b c d") == 2
    assert few.of(b"1" * 31) == 11
    assert few.of("ž".encode() * 9) == 3
    assert few.of(b" " * 100) == 0


def test_a_vocabulary_that_leaves_something_out_bounds_nothing() -> None:
    assert FewestTokens([b"a", b" many"]).of(b" many" * 1000) == 0


@pytest.mark.parametrize("overflow", ["stop", "leave_out"])
def test_millions_of_words_are_refused_before_they_are_tokenised(load: Load, overflow: str) -> None:
    engine = load(STARTER, context=512)
    long = "a word " * (WORDS // 2)
    run(engine, ask("Hello", max_tokens=1))
    clock = time.process_time()
    request = ChatRequest((Message("user", long),), overflow=overflow)  # type: ignore[arg-type]
    with pytest.raises((ContextFull, MessageTooLong), match="at least 3,000,0"):
        run(engine, request)
    with pytest.raises(MessageTooLong, match="at least"):
        run(engine, ChatRequest((), prompt=long))
    assert time.process_time() - clock < SOON_S
    measured = engine.measure(request, CancelToken())
    assert measured.total >= WORDS


def test_an_old_message_that_is_far_too_long_leaves_and_the_question_is_answered(
    load: Load,
) -> None:
    engine = load(STARTER, context=512)
    long = "a word " * (WORDS // 2)
    clock = time.process_time()
    ready, *_ = run(engine, ask(long, "I see.", "Hello", max_tokens=2))
    assert ready.left == (0, 1)  # type: ignore[union-attr]  # it is the prompt
    assert time.process_time() - clock < SOON_S


def test_who_measures_waits_for_nobody_who_tokenises_and_a_close_waits_for_both(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = load(STARTER, context=512)
    begun, go_on = threading.Event(), threading.Event()
    whole_text = Vocabulary.whole_text

    def slow(self: Vocabulary, text: str) -> list[int]:
        if text == "slow":
            begun.set()
            assert go_on.wait(30)
        return whole_text(self, text)

    monkeypatch.setattr(Vocabulary, "whole_text", slow)
    with ThreadPoolExecutor(2) as threads:
        tokens = threads.submit(engine.tokenize, "slow", CancelToken())
        assert begun.wait(30)
        assert engine.measure(ask("Hello"), CancelToken()).total
        closing = threads.submit(engine.close)
        assert not wait([closing], 0.1).done
        go_on.set()
        assert tokens.result(30)
        closing.result(30)
    with pytest.raises(EngineFailed):
        engine.measure(ask("Hello"), CancelToken())
