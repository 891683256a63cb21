"""Options that an API passes to an answer: raw prompts, probabilities, penalties and biases."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import GrammarInvalid, MessageTooLong, Unsupported
from engines.llamacpp.engine import LlamaCppEngine
from engines.types import (
    ChatRequest,
    Event,
    PromptEcho,
    PromptReady,
    Sampling,
    TextDelta,
    TokenLogprob,
)
from tests.engines.asking import GREEDY, ask, done_of, run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.drafting import STARTER_DRAFTER
from tests.engines.llamacpp.random_models import STARTER, write_random_llama
from tests.support.made_gguf import starter_tokens

QUESTION = ask("What can you do?", sampling=GREEDY, max_tokens=24)


@pytest.fixture
def starter(load: Load) -> LlamaCppEngine:
    return load(context=512)


def completed(engine: LlamaCppEngine, prompt: str | tuple[int, ...], **more: object) -> list[Event]:
    values = {"sampling": GREEDY, "max_tokens": 16} | more
    return run(engine, ChatRequest((), prompt=prompt, **values))  # type: ignore[arg-type]


def told(events: list[Event]) -> list[TokenLogprob]:
    return [it for event in events if isinstance(event, TextDelta) for it in event.logprobs]


def with_sampling(**changes: object) -> ChatRequest:
    return replace(QUESTION, sampling=replace(GREEDY, **changes))  # type: ignore[arg-type]


def test_a_prompt_goes_in_as_it_is(starter: LlamaCppEngine) -> None:
    prompt = "Hello, I can"
    tokens = starter.tokenize(prompt, CancelToken())
    events = completed(starter, prompt)
    ready = events[0]
    assert isinstance(ready, PromptReady)
    assert ready.prompt_tokens == len(tokens)
    assert text_of(completed(starter, tokens)) == text_of(events)
    assert starter.measure(ChatRequest((), prompt=prompt), CancelToken()).total == len(tokens)


def test_a_rendered_chat_is_answered_like_the_chat(starter: LlamaCppEngine) -> None:
    loaded = starter.chat_model
    rendered = loaded.prompter.write(QUESTION)
    events = completed(starter, tuple(rendered.tokens), max_tokens=24)
    assert text_of(events) == text_of(run(starter, QUESTION))


def test_a_prompt_that_cannot_be_gone_on_from_is_refused(starter: LlamaCppEngine) -> None:
    with pytest.raises(MessageTooLong, match="600 tokens"):
        completed(starter, (1,) * 600)
    with pytest.raises(Unsupported, match="not a token"):
        completed(starter, (10**9,))
    with pytest.raises(Unsupported, match="nothing to continue"):
        completed(starter, ())
    assert text_of(completed(starter, "Hello"))


def test_a_gap_in_a_text_is_filled_by_a_model_with_tokens_for_it(
    load: Load, tmp_path: Path
) -> None:
    key = "tokenizer.ggml."
    marks = {f"{key}fim_pre_token_id": 5, f"{key}fim_suf_token_id": 6, f"{key}fim_mid_token_id": 7}
    tokenizer = {**starter_tokens().values, **marks}
    engine = load(write_random_llama(tmp_path / "gaps.gguf", tokenizer=tokenizer))
    before, behind = "def add(a, b):\n", "\n    return total"
    asked = ChatRequest((), prompt=before, suffix=behind, sampling=GREEDY, max_tokens=8)

    def plain(text: str) -> tuple[int, ...]:
        return engine.tokenize(text, CancelToken(), special=False)

    begin = engine.tokenize("", CancelToken())
    tokens = (*begin, 5, *plain(before), 6, *plain(behind), 7)
    events = run(engine, asked)
    assert isinstance(events[0], PromptReady)
    assert events[0].prompt_tokens == len(tokens)
    assert text_of(events) == text_of(completed(engine, tokens, max_tokens=8))
    assert engine.measure(asked, CancelToken()).total == len(tokens)


def test_a_model_without_tokens_for_a_gap_says_so(starter: LlamaCppEngine) -> None:
    with pytest.raises(Unsupported, match="cannot fill a gap"):
        completed(starter, "Hello", suffix="there")


def test_each_token_of_an_answer_has_its_probability(starter: LlamaCppEngine) -> None:
    events = run(starter, with_sampling(logprobs=5))
    tokens = told(events)
    assert len(tokens) == done_of(events).usage.completion_tokens
    assert b"".join(it.raw for it in tokens).decode() == text_of(events)
    for token in tokens:
        assert len(token.likeliest) == 5
        assert token.likeliest[0].token == token.token
        assert token.logprob == token.likeliest[0].logprob <= 0
        assert [it.logprob for it in token.likeliest] == sorted(
            (it.logprob for it in token.likeliest), reverse=True
        )
        assert sum(math.exp(it.logprob) for it in token.likeliest) <= 1 + 1e-6


def test_probabilities_are_those_before_the_sampler(starter: LlamaCppEngine) -> None:
    run(starter, with_sampling(logprobs=3))  # both answers below find its prompt in the cache
    first = told(run(starter, with_sampling(logprobs=3)))[0]
    grammar = f"root ::= [^{first.text[0]}]+"
    hot = Sampling(2.0, seed=3, logprobs=3, grammar=grammar)
    other = told(run(starter, replace(QUESTION, sampling=hot)))[0]
    assert other.token != first.token
    assert other.likeliest == first.likeliest
    assert other.logprob < first.logprob
    assert told(run(starter, QUESTION)) == []
    none = told(run(starter, with_sampling(logprobs=0)))[0]
    assert none == replace(first, likeliest=())


PROMPT = tuple(range(20, 60))


def judged(engine: LlamaCppEngine, **more: object) -> PromptEcho:
    sampling = Sampling(0.0, logprobs=2)
    events = completed(engine, PROMPT, sampling=sampling, echo=True, **more)
    (echo,) = [it for it in events if isinstance(it, PromptEcho)]
    return echo


def require_judged(engine: LlamaCppEngine) -> None:
    """Compare the probabilities of a prompt with those of the same tokens, drawn one by one."""
    echo = judged(engine)
    assert [it.token for it in echo.logprobs] == list(PROMPT)
    assert math.isnan(echo.logprobs[0].logprob)
    assert echo.text == engine.detokenize(PROMPT, CancelToken())
    for place in (1, 2, 9, 10, len(PROMPT) - 1):
        drawn = completed(
            engine, PROMPT[:place], max_tokens=1,
            sampling=Sampling(0.0, logprobs=2, logit_bias=((PROMPT[place], 1e6),)),
        )  # fmt: skip
        expected = told(drawn)[0] if told(drawn) else None
        if expected is None:
            continue  # a token without any visible text
        assert expected.token == PROMPT[place]
        assert echo.logprobs[place].logprob == pytest.approx(expected.logprob, abs=0.02)
        first, other = echo.logprobs[place].likeliest[0], expected.likeliest[0]
        assert first.logprob == pytest.approx(other.logprob, abs=0.02)


def test_the_tokens_of_a_prompt_have_their_probabilities(load: Load, random_mamba: Path) -> None:
    require_judged(load(context=512))
    require_judged(load(context=512, draft_max=0))
    require_judged(load(context=512, parallel=2, batch=8))
    require_judged(load(random_mamba, context=512))


def test_a_prompt_is_judged_whatever_drafts(engine: LlamaCppEngine) -> None:
    require_judged(engine)
    echo = judged(engine, mtp="on", max_tokens=0)
    again = judged(engine, mtp="off", max_tokens=4)
    assert [it.logprob for it in echo.logprobs[1:]] == pytest.approx(
        [it.logprob for it in again.logprobs[1:]], abs=0.02
    )


def test_judging_a_prompt_leaves_the_next_answer_alone(starter: LlamaCppEngine) -> None:
    usual = text_of(run(starter, QUESTION))
    judged(starter)
    assert text_of(run(starter, QUESTION)) == usual
    before = text_of(completed(starter, PROMPT))
    judged(starter, max_tokens=0)
    assert text_of(completed(starter, PROMPT)) == before


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_no_token_ends_an_answer_that_must_go_on(
    starter: LlamaCppEngine, temperature: float
) -> None:
    sampling = Sampling(temperature, seed=1, ignore_end=True)
    events = run(starter, replace(QUESTION, sampling=sampling, max_tokens=120))
    done = done_of(events)
    assert (done.usage.completion_tokens, done.finish_reason) == (120, "length")
    sampling = Sampling(temperature, seed=1, min_tokens=90)
    done = done_of(run(starter, replace(QUESTION, sampling=sampling, max_tokens=None)))
    assert done.usage.completion_tokens >= 90


def test_drafts_change_no_answer_that_must_go_on(load: Load) -> None:
    """No two tokens of this answer are so close that another order of sums swaps them."""
    drafted = load(STARTER, drafter=STARTER_DRAFTER, context=512)
    sampling = Sampling(0.0, ignore_end=True, logprobs=2)
    request = ask("any paid tier or is everything free", sampling=sampling, max_tokens=120)
    usual = run(drafted, replace(request, sampling=GREEDY, mtp="off"))
    assert done_of(usual).usage.completion_tokens < 100
    plain = run(drafted, replace(request, mtp="off"))
    gaps = [it.likeliest[0].logprob - it.likeliest[1].logprob for it in told(plain)]
    assert len(gaps) == 120
    assert min(gaps) > 0.2
    with_drafts = run(drafted, replace(request, mtp="on"))
    assert done_of(with_drafts).mtp.accepted > 0
    assert text_of(with_drafts) == text_of(plain)


def test_a_token_of_the_request_ends_an_answer(load: Load) -> None:
    drafted = load(STARTER, drafter=STARTER_DRAFTER, context=512)
    usual = told(run(drafted, with_sampling(logprobs=0)))
    for mtp in ("on", "off"):
        for at in (1, 4, 9):
            stop = usual[at].token
            first = next(place for place, it in enumerate(usual) if it.token == stop)
            events = run(drafted, replace(with_sampling(stop_tokens=(stop,)), mtp=mtp))
            assert text_of(events).encode() == b"".join(it.raw for it in usual[:first])
            assert done_of(events).finish_reason == "stop"
    with pytest.raises(Unsupported, match="is not a token"):
        run(drafted, with_sampling(stop_tokens=(1 << 20,)))


def test_a_marker_that_ends_answers_may_be_asked_to(starter: LlamaCppEngine) -> None:
    """As in vLLM, the end of a text is ignored unless the request names it."""
    loaded = starter.chat_model
    ends = tuple(loaded.model.vocabulary.ends)
    usual = text_of(run(starter, replace(QUESTION, max_tokens=200)))
    sampling = Sampling(0.0, ignore_end=True, stop_tokens=ends)
    events = run(starter, replace(QUESTION, sampling=sampling, max_tokens=200))
    assert text_of(events) == usual


def test_drafts_change_no_probability(load: Load) -> None:
    drafted = load(STARTER, drafter=STARTER_DRAFTER, context=512)
    request = replace(with_sampling(logprobs=2), max_tokens=60)
    with_drafts = run(drafted, replace(request, mtp="on"))
    assert done_of(with_drafts).mtp.accepted > 0
    plain = told(run(drafted, replace(request, mtp="off")))
    tokens = told(with_drafts)
    assert [it.token for it in tokens] == [it.token for it in plain]
    for one, other in zip(tokens, plain, strict=True):
        assert one.logprob == pytest.approx(other.logprob, abs=1e-3)


def test_a_stop_string_takes_its_tokens_with_it(starter: LlamaCppEngine) -> None:
    whole = text_of(run(starter, QUESTION))
    stop = whole[8:12]
    events = run(starter, replace(with_sampling(logprobs=0), stop=(stop,)))
    assert text_of(events) == whole[: whole.index(stop)]
    assert len(b"".join(it.raw for it in told(events))) <= len(whole.encode())


def test_a_bias_forbids_or_forces_a_token(starter: LlamaCppEngine) -> None:
    first = told(run(starter, with_sampling(logprobs=2)))[0]
    second = first.likeliest[1].token
    forbidden = with_sampling(logprobs=2, logit_bias=((first.token, -100.0),))
    assert told(run(starter, forbidden))[0].token == second
    forced = with_sampling(logprobs=0, logit_bias=((second, 100.0),), temperature=1.0, seed=1)
    tokens = told(run(starter, forced))
    assert {it.token for it in tokens} == {second}
    with pytest.raises(Unsupported, match="not a token"):
        run(starter, with_sampling(logit_bias=((-1, 1.0),)))
    assert text_of(run(starter, QUESTION))


def test_what_is_in_the_answer_becomes_less_likely(load: Load, random_llama: Path) -> None:
    engine = load(random_llama, context=512)

    def different(**changes: object) -> int:
        sampling = replace(GREEDY, logprobs=0, **changes)  # type: ignore[arg-type]
        events = completed(engine, (5, 6, 7), sampling=sampling, max_tokens=60)
        return len({it.token for it in told(events)})

    usual = different()
    assert different(presence_penalty=100.0) > usual
    assert different(frequency_penalty=100.0) > usual
    assert different(frequency_penalty=-100.0) == 1


def test_the_prompt_does_not_count_for_those_penalties(load: Load, random_llama: Path) -> None:
    engine = load(random_llama, context=512)
    loaded = engine.chat_model
    every = tuple(range(loaded.model.vocabulary.size))[-500:]
    greedy = replace(GREEDY, logprobs=0)
    usual, penalised, repeating = (
        told(completed(engine, every, sampling=sampling, max_tokens=1))
        for sampling in (
            greedy,
            replace(greedy, presence_penalty=100.0, frequency_penalty=100.0),
            replace(greedy, repeat_penalty=100.0, repeat_last_n=500),
        )
    )
    assert usual[0].token == penalised[0].token != repeating[0].token


def test_a_schema_and_a_grammar_are_refused_together(starter: LlamaCppEngine) -> None:
    with pytest.raises(GrammarInvalid):
        run(starter, with_sampling(grammar='root ::= "a"', schema="{}"))
