"""Drawing tokens: seeds, grammars, and values that would end the process in llama.cpp."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engines.errors import GrammarInvalid
from engines.llamacpp.constraints import TokenGuide
from engines.llamacpp.context import EVALUATED
from engines.llamacpp.guided import open_sampler
from engines.llamacpp.sampling import ChainSampler, Greedy, Sampler
from engines.types import Sampling
from tests.engines.contract import ask, done_of, run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.grammars import lark_of
from tests.engines.llamacpp.random_models import (
    STARTER,
    sentencepiece_tokenizer,
    write_random_llama,
)
from tests.engines.llamacpp.seeded import Answer, Seeded

FREE = Sampling(temperature=1.3, top_k=0, top_p=1.0, min_p=0.0)
GREEDY = Sampling(temperature=0.0)
LETTERS = "root ::= [a-z ]+"
DATE = 'root ::= "On " [1-9] [0-9]? " " ("May" | "June") ", " [0-9]{4} "."'


@pytest.fixture(scope="module")
def seeded() -> Iterator[Seeded]:
    made = Seeded("q", length=12)
    yield made
    made.close()


def sampler(seeded: Seeded, sampling: Sampling, seed: int = 1) -> Sampler:
    return open_sampler(seeded.native, seeded.model, sampling, seed, prior=seeded.prompt)


def guide(seeded: Seeded, grammar: str) -> TokenGuide:
    return seeded.model.guides.open(lark_of(grammar))


def tokens(seeded: Seeded, text: str) -> Answer:
    return tuple(seeded.model.vocabulary.tokenise(text))


def end_marker(seeded: Seeded) -> int:
    vocabulary = seeded.model.vocabulary
    return next(token for token in range(vocabulary.size) if vocabulary.ends_generation(token))


def fill_logits(seeded: Seeded, value: float) -> None:
    """Give every token the same logit, as damaged weights may."""
    seeded.evaluate(seeded.prompt)
    logits = seeded.native.api.llama_get_logits_ith(seeded.context.pointer, -1)
    np.ctypeslib.as_array(logits, (seeded.model.vocabulary.size,))[:] = value


@pytest.mark.parametrize("grammar", [None, LETTERS])
def test_a_seed_draws_the_same_tokens_again(seeded: Seeded, grammar: str | None) -> None:
    sampling = replace(FREE, grammar=grammar)
    answers = [seeded.answers(sampling, [seed]) for seed in (5, 5, 6)]
    assert answers[0] == answers[1] != answers[2]


@pytest.mark.parametrize("mtp", ["off", "on"])
def test_a_seed_gives_the_same_answer_again(load: Load, mtp: str) -> None:
    engine = load(drafter=STARTER.with_name("starter-mtp.gguf"))
    question = ask("q", sampling=replace(FREE, seed=7), max_tokens=40, mtp=mtp, depth=3)
    first = run(engine, question)
    assert (done_of(first).mtp.accepted > 0) == (mtp == "on")
    assert text_of(run(engine, question)) == text_of(first)
    other = replace(question, sampling=replace(FREE, seed=8))
    assert text_of(run(engine, other)) != text_of(first)


@pytest.mark.parametrize("sampling", [GREEDY, FREE, Sampling(1.5, 5, 0.9, 0.05, 1.3)])
def test_every_answer_follows_the_grammar(seeded: Seeded, sampling: Sampling) -> None:
    answers = seeded.answers(replace(sampling, grammar=LETTERS), range(20))
    for found in answers:
        text = b"".join(map(seeded.model.vocabulary.piece, found)).decode()
        assert re.fullmatch("[a-z ]+", text)


def test_an_answer_ends_where_its_grammar_does(load: Load) -> None:
    engine = load()
    for seed in range(5):
        events = run(engine, ask("When?", sampling=Sampling(1.5, seed=seed, grammar=DATE)))
        assert re.fullmatch(r"On [1-9]\d? (May|June), \d{4}\.", text_of(events))
        assert done_of(events).finish_reason == "stop"


def test_a_grammar_that_cannot_be_used_is_refused_before_anything_is_evaluated(load: Load) -> None:
    engine = load()
    with pytest.raises(GrammarInvalid, match="Line 1, column 10"):
        run(engine, ask("Hello.", sampling=Sampling(grammar='root ::= "')))
    assert not engine.chat_model.slots[0].cache.tokens
    assert text_of(run(engine, ask("Hello.")))


@pytest.mark.parametrize("mtp", ["off", "on"])
def test_a_grammar_that_cannot_be_followed_ends_in_an_error(load: Load, mtp: str) -> None:
    engine = load(drafter=STARTER.with_name("starter-mtp.gguf"))
    question = ask("What is Hearth?", mtp=mtp, depth=3)
    before = text_of(run(engine, question))
    # The beginning is what the model writes anyway, so that drafts are kept.
    ways = [f"way-{at}" for at in range(1500)]
    rules = [f'{it} ::= "{it}" {it} | "x"' for it in ways]
    begins = f'root ::= "{before[:30]}" ({" | ".join(ways)})'.replace("\n", "\\n")
    dead_end = "\n".join([begins, *rules])
    for _ in range(2):
        with pytest.raises(GrammarInvalid, match="too costly") as raised:
            run(engine, replace(question, sampling=replace(GREEDY, grammar=dead_end)))
        assert raised.value.do
        assert text_of(run(engine, question)) == before


def test_a_token_the_grammar_does_not_allow_is_never_accepted(seeded: Seeded) -> None:
    begun, other = tokens(seeded, "On 3")[0], tokens(seeded, "Hello")[0]
    following = guide(seeded, DATE)
    for token in (other, end_marker(seeded)):
        assert not following.allows(token)
        with pytest.raises(GrammarInvalid):
            following.accept(token)
    following.accept(begun)
    assert not following.allows(begun)


def test_an_end_marker_is_allowed_where_the_grammar_may_end(seeded: Seeded) -> None:
    following = guide(seeded, 'root ::= "Hello"?')
    following.accept(end_marker(seeded))


def test_a_grammar_covers_what_the_answer_has_begun_with(seeded: Seeded) -> None:
    sampling = replace(GREEDY, grammar='root ::= "Hello" " you" "!"')
    parts = seeded.native, seeded.model, sampling, 1, seeded.prompt
    with closing(open_sampler(*parts, begun=tokens(seeded, "Hello"))) as following:
        seeded.evaluate(seeded.prompt)
        piece = seeded.model.vocabulary.piece(following.draw(seeded.context))
    assert b" you!".startswith(piece)
    with pytest.raises(GrammarInvalid):
        open_sampler(*parts, begun=tokens(seeded, "Good morning"))


def test_a_token_that_is_too_long_is_never_drawn_where_a_grammar_holds(
    load: Load, tmp_path: Path
) -> None:
    tokenizer = dict(sentencepiece_tokenizer(256))
    letters = tokenizer["tokenizer.ggml.tokens"]
    assert isinstance(letters, list)
    tokenizer["tokenizer.ggml.tokens"] = [*letters[:-1], "a" * 30_000]
    path = write_random_llama(tmp_path / "long.gguf", tokenizer=tokenizer, template=False)
    loaded = load(path).chat_model
    vocabulary = loaded.model.vocabulary
    following = loaded.model.guides.open(lark_of(LETTERS))
    assert not following.allows(vocabulary.size - 1)
    assert following.allows(vocabulary.size - 2)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 0.0, 3e38])
@pytest.mark.parametrize("sampling", [GREEDY, FREE, Sampling(1.0, 500, 0.5, 0.1, 1.2)])
def test_logits_that_are_no_numbers(seeded: Seeded, sampling: Sampling, value: float) -> None:
    with closing(sampler(seeded, sampling)) as free:
        fill_logits(seeded, value)
        assert 0 <= free.draw(seeded.context) < seeded.model.vocabulary.size
    with closing(sampler(seeded, replace(sampling, grammar=LETTERS))) as following:
        fill_logits(seeded, value)
        try:
            token = following.draw(seeded.context)
        except GrammarInvalid:
            assert not math.isfinite(value)
        else:
            assert re.fullmatch(rb"[a-z ]+", seeded.model.vocabulary.piece(token))


@pytest.mark.parametrize("grammar", [None, LETTERS])
@pytest.mark.parametrize(
    "extreme",
    [
        {"temperature": 1e-45},
        {"temperature": math.inf},
        {"temperature": math.nan},
        {"top_k": 2**40},
        {"top_k": -(2**40)},
        {"top_p": 0.0},
        {"top_p": -1.0},
        {"top_p": math.nan},
        {"min_p": 2.0},
        {"min_p": math.nan},
        {"repeat_penalty": 0.0},
        {"repeat_penalty": -1.0},
        {"repeat_penalty": math.nan},
        {"repeat_penalty": 1.1, "repeat_last_n": 2**40},
    ],
    ids=str,
)
def test_extreme_settings(seeded: Seeded, extreme: dict[str, float], grammar: str | None) -> None:
    sampling = replace(Sampling(grammar=grammar, repeat_penalty=1.1), **extreme)  # type: ignore[arg-type]
    try:
        answers = seeded.answers(sampling, [1])
    except GrammarInvalid:
        assert grammar is not None
    else:
        assert all(
            0 <= token < seeded.model.vocabulary.size for found in answers for token in found
        )


def test_the_likeliest_token_is_drawn_as_by_the_chain(seeded: Seeded) -> None:
    """Greedy reads the logits itself: it has to agree with llama.cpp's own sampler on each row."""
    quick = open_sampler(seeded.native, seeded.model, GREEDY, 1, ())
    chain = ChainSampler(seeded.native, seeded.model.vocabulary.size, GREEDY, 1, ())
    assert isinstance(quick, Greedy)
    seeded.native.api.llama_memory_clear(seeded.context.memory, False)
    text = seeded.model.vocabulary.tokenise("Hearth keeps your chats on")[-4:]
    assert seeded.context.evaluate(text, 0, outputs=4) == EVALUATED
    rows = range(-1, 4)
    drawn = [quick.draw(seeded.context, row) for row in rows]
    assert drawn == [chain.draw(seeded.context, row) for row in rows]
    assert len(set(drawn)) > 1
    chain.close()
