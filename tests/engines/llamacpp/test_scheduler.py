"""Several answers in one context: the same texts, fair steps, and no effect on one another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.llamacpp.context import EVALUATED, BatchPart, Context
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.resume.states import StateFolder
from engines.types import ChatRequest, Event, PromptReady, TextDelta
from tests.engines.contract import ask, done_of, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.drafting import STARTER_DRAFTER, Pair, drafting
from tests.engines.llamacpp.random_models import STARTER, Size, write_random_llama

QUESTIONS = (
    "Where does Hearth keep my chats?",
    "What is Hearth?",
    "How do I delete a chat?",
    "Can I use a graphics card?",
    "Is Hearth free?",
    "What does Hearth send over the network?",
)
FAILED = -3
Evaluate = Callable[[Context, Sequence[BatchPart]], int]


def at_once(engine: LlamaCppEngine, requests: Sequence[ChatRequest]) -> list[list[Event]]:
    """Return the events of simultaneous answers, each read by its own thread."""
    begin = threading.Barrier(len(requests))

    def read(request: ChatRequest) -> list[Event]:
        begin.wait()
        return list(engine.chat(request, CancelToken()))

    with ThreadPoolExecutor(len(requests)) as pool:
        return list(pool.map(read, requests))


def one_by_one(engine: LlamaCppEngine, requests: Sequence[ChatRequest]) -> list[list[Event]]:
    return [list(engine.chat(request, CancelToken())) for request in requests]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[BatchPart]]:
    """Record the parts of each evaluation, in order."""
    seen: list[Sequence[BatchPart]] = []
    evaluate = Context.evaluate_parts

    def noted(context: Context, parts: Sequence[BatchPart]) -> int:
        seen.append(parts)
        return evaluate(context, parts)

    monkeypatch.setattr(Context, "evaluate_parts", noted)
    return seen


@pytest.fixture(scope="session")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model whose steps take much longer than reading their tokens."""
    size = Size(layers=8, width=512, heads=8, kv_heads=8, inner=2048)
    return write_random_llama(tmp_path_factory.mktemp("slow") / "slow.gguf", size)


@pytest.mark.parametrize("depth", [None, 3])
def test_answers_side_by_side_have_the_texts_they_have_alone(
    load: Load, depth: int | None, steps: list[Sequence[BatchPart]]
) -> None:
    engine = load(STARTER, drafter=STARTER_DRAFTER, parallel=4)
    requests = [ask(question, max_tokens=64) for question in QUESTIONS[:4]]
    if depth is not None:
        requests = [drafting(request, depth) for request in requests]
    expected = [text_of(events) for events in one_by_one(engine, requests)]
    assert all(expected)
    steps.clear()
    together = at_once(engine, requests)
    assert [text_of(events) for events in together] == expected
    assert max(len(parts) for parts in steps) > 1
    if depth is not None:
        assert any(sum(part.outputs > 1 for part in parts) > 1 for parts in steps)
        assert all(done_of(events).mtp.accepted for events in together)


def test_drafts_of_each_sequence_are_its_own(load: Load, pair: Pair) -> None:
    """With any drafter, the accepted drafts are tokens that the model would have written alone."""
    engine = load(pair.model, drafter=pair.drafter, context=512, parallel=3)
    requests = [drafting(ask(question, max_tokens=24), 3) for question in QUESTIONS[:3]]
    together = at_once(engine, requests)
    loaded = engine.chat_model
    for slot in loaded.slots:
        # The tokens that stay in each continue as in a cache that never had others.
        tokens = list(slot.cache.tokens)
        api, memory = loaded.native.api, loaded.context.memory
        assert api.llama_memory_seq_pos_max(memory, slot.cache.sequence) == len(tokens) - 1
    again = one_by_one(engine, requests)
    same = sum(text_of(one) == text_of(two) for one, two in zip(together, again, strict=True))
    # With random weights, one may differ at a tie: batches are summed in another order.
    assert same >= (3 if pair.model == STARTER else 2)


def test_a_long_prompt_makes_no_running_answer_wait_longer_than_one_slice(
    load: Load, slow: Path, steps: list[Sequence[BatchPart]]
) -> None:
    engine = load(slow, context=2048, batch=64, parallel=3, kept_bytes=0)
    begun, done = threading.Barrier(3), threading.Event()

    def write(number: int) -> None:
        events = engine.chat(ask(f"Question {number}", max_tokens=None), CancelToken())
        with closing(events):
            next(event for event in events if isinstance(event, TextDelta))
            begun.wait()
            while not done.is_set():
                next(events)

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(write, number) for number in range(2)]
        try:
            begun.wait()
            steps.clear()
            newcomer = engine.chat(ask("many words " * 300, max_tokens=1), CancelToken())
            assert isinstance(next(newcomer), PromptReady)
            list(newcomer)
        finally:
            done.set()
        for each in running:
            each.result()
    slices = [parts for parts in steps if any(len(part.tokens) > 1 for part in parts)]
    assert len(slices) > 8
    newcomer_is = next(part.sequence for part in slices[0] if len(part.tokens) > 1)
    for sequence in {0, 1, 2} - {newcomer_is}:
        waited = longest = 0
        for parts in slices:
            there = any(part.sequence == sequence for part in parts)
            waited = 0 if there else waited + 1
            longest = max(longest, waited)
        assert longest <= 1, "slices in a row without a token of a running answer"
    assert all(sum(len(part.tokens) for part in parts) <= 64 for parts in steps)


def test_the_prompt_of_a_guest_is_read_behind_that_of_who_asks_here(
    load: Load, slow: Path, steps: list[Sequence[BatchPart]]
) -> None:
    engine = load(slow, context=2048, batch=64, parallel=2, kept_bytes=0)
    long = ask("many words " * 150, max_tokens=1)
    with ThreadPoolExecutor(1) as pool:
        guest = pool.submit(
            one_by_one, engine, [replace(ask("other words " * 150, max_tokens=1), guest=True)]
        )
        while not steps or len(steps[-1][0].tokens) < 64:
            pass
        guests = steps[-1][0].sequence
        one_by_one(engine, [long])
        after = len(steps)
        guest.result()
    both = [{part.sequence for part in parts} for parts in steps]
    own = [which for which in both if 1 - guests in which]
    assert len(own) > 3
    assert all(guests not in which for which in own[:-2]), "only behind its end is there room"
    assert len(steps) > after, "the guest's is read to its end after that"


def test_running_answers_get_equal_steps(
    load: Load, slow: Path, steps: list[Sequence[BatchPart]]
) -> None:
    engine = load(slow, parallel=4)
    requests = [ask(f"Question {number}", max_tokens=24) for number in range(4)]
    assert {done_of(events).finish_reason for events in at_once(engine, requests)} == {"length"}
    first = next(at for at, parts in enumerate(steps) if len(parts) == 4)
    counts = [
        sum(any(part.sequence == sequence for part in parts) for parts in steps[first:])
        for sequence in range(4)
    ]
    assert max(counts) <= 24
    together = [parts for parts in steps[first:] if len(parts) == 4]
    assert len(together) > 12, "most steps have a token of each"
    assert all([part.sequence for part in parts] == [0, 1, 2, 3] for parts in together)


def test_a_reader_that_takes_its_time_holds_nobody_up(load: Load) -> None:
    engine = load(parallel=2)
    with closing(engine.chat(ask(QUESTIONS[0], max_tokens=64), CancelToken())) as paused:
        early = [next(paused) for _ in range(4)]
        other = one_by_one(engine, [ask(QUESTIONS[1], max_tokens=64)])[0]
        assert done_of(other).finish_reason in {"stop", "length"}
        late = list(paused)
    assert text_of([*early, *late]) == text_of(
        one_by_one(engine, [ask(QUESTIONS[0], max_tokens=64)])[0]
    )


def test_a_cancel_or_a_close_ends_one_answer_and_no_other(load: Load) -> None:
    engine = load(parallel=3)
    requests = [ask(question, max_tokens=64) for question in QUESTIONS[:3]]
    expected = [text_of(events) for events in one_by_one(engine, requests)]
    cancel = CancelToken()

    def cancelled() -> list[Event]:
        events = []
        for event in engine.chat(requests[1], cancel):
            events.append(event)
            if len(events) == 6:
                cancel.cancel()
        return events

    def closed() -> None:
        with closing(engine.chat(requests[2], CancelToken())) as events:
            for _ in range(6):
                next(events)

    for _ in range(8):
        cancel = CancelToken()
        with ThreadPoolExecutor(3) as pool:
            whole = pool.submit(list, engine.chat(requests[0], CancelToken()))
            stopped, left = pool.submit(cancelled), pool.submit(closed)
            assert text_of(whole.result()) == expected[0]
            assert done_of(stopped.result()).finish_reason == "cancelled"
            assert expected[1].startswith(text_of(stopped.result()))
            left.result()
    assert [text_of(events) for events in one_by_one(engine, requests)] == expected


def test_a_cancel_while_a_prompt_waits_ends_it_within_one_slice(
    load: Load, slow: Path, steps: list[Sequence[BatchPart]]
) -> None:
    engine = load(slow, context=2048, batch=64, parallel=2)
    cancel = CancelToken()
    with closing(engine.chat(ask("Hello", max_tokens=None), CancelToken())) as running:
        next(event for event in running if isinstance(event, TextDelta))

        def newcomer() -> list[Event]:
            return list(engine.chat(ask("many words " * 300, max_tokens=4), cancel))

        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(newcomer)
            for _ in range(3):
                next(running)
            cancel.cancel()
            seen = len(steps)
            events = reading.result()
        assert len(steps) <= seen + 2
        assert done_of(events).finish_reason == "cancelled"
        next(running)


def failing_for(sequence: int, result: int, evaluate: Evaluate) -> Evaluate:
    """Return an evaluation that fails whenever it has a part of one sequence."""

    def evaluated(context: Context, parts: Sequence[BatchPart]) -> int:
        if any(part.sequence == sequence for part in parts):
            return result
        return evaluate(context, parts)

    return evaluated


@pytest.mark.parametrize("kind", ["drafter", "head", "marked"])
def test_what_cannot_be_evaluated_ends_one_answer_and_no_other(
    load: Load, pairs: dict[str, Pair], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = load(pairs[kind].model, drafter=pairs[kind].drafter, parallel=2)
    requests = [drafting(ask(question, max_tokens=32), 2) for question in QUESTIONS[:2]]
    expected = text_of(one_by_one(engine, requests[:1])[0])
    loaded = engine.chat_model
    with (
        closing(engine.chat(requests[0], CancelToken())) as one,
        closing(engine.chat(requests[1], CancelToken())) as other,
    ):
        events = [next(one) for _ in range(3)]
        (healthy,) = (slot.cache.sequence for slot in loaded.slots if slot.busy)
        assert isinstance(next(other), PromptReady)
        next(other)
        assert all(slot.busy for slot in loaded.slots)
        with monkeypatch.context() as patched:
            broken = failing_for(1 - healthy, FAILED, Context.evaluate_parts)
            patched.setattr(Context, "evaluate_parts", broken)
            with ThreadPoolExecutor(1) as pool:
                rest = pool.submit(list, one)
                with pytest.raises(EngineFailed, match="stopped in the middle"):
                    list(other)
                events += rest.result()
    text = text_of(events)
    assert done_of(events).finish_reason in {"stop", "length"}
    assert text == expected or kind != "drafter"
    assert text_of(one_by_one(engine, requests[1:])[0])


def test_a_step_that_fails_for_all_together_is_done_for_each_alone(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = load(STARTER, drafter=STARTER_DRAFTER, parallel=3)
    requests = [drafting(ask(question, max_tokens=48), 2) for question in QUESTIONS[:3]]
    expected = [text_of(events) for events in one_by_one(engine, requests)]
    evaluate, failed = Context.evaluate_parts, 0

    def alone_only(context: Context, parts: Sequence[BatchPart]) -> int:
        nonlocal failed
        if len(parts) > 1:
            failed += 1
            return FAILED
        return evaluate(context, parts)

    monkeypatch.setattr(Context, "evaluate_parts", alone_only)
    assert [text_of(events) for events in at_once(engine, requests)] == expected
    assert failed


def test_a_prompt_takes_over_what_a_running_answer_has_read(
    load: Load, random_llama: Path, steps: list[Sequence[BatchPart]]
) -> None:
    system = "You answer questions about a desktop app, in short and friendly sentences. " * 6
    engine = load(random_llama, parallel=2)
    first = ask(QUESTIONS[0], system=system, max_tokens=16)
    second = ask(QUESTIONS[1], system=system, max_tokens=16)
    expected = [text_of(events) for events in one_by_one(engine, [first, second])]
    engine = load(random_llama, parallel=2)
    with closing(engine.chat(first, CancelToken())) as running:
        early = [next(running) for _ in range(4)]
        steps.clear()
        events = one_by_one(engine, [second])[0]
        ready = events[0]
        assert isinstance(ready, PromptReady)
        assert ready.cached_tokens > 0.7 * ready.prompt_tokens
        assert len(steps[0][-1].tokens) == ready.prompt_tokens - ready.cached_tokens
        assert text_of(events) == expected[1]
        assert text_of([*early, *running]) == expected[0]


def test_the_chats_of_all_sequences_go_on_after_a_restart(load: Load, tmp_path: Path) -> None:
    states = StateFolder(tmp_path / "states", 1 << 28)
    requests = [
        replace(ask(question, max_tokens=32), chat=f"chat {number}")
        for number, question in enumerate(QUESTIONS[:3])
    ]
    engine = load(states=states, parallel=3)
    told = [text_of(events) for events in at_once(engine, requests)]
    engine.close()
    engine = load(states=StateFolder(tmp_path / "states", 1 << 28), parallel=3)
    again = at_once(
        engine,
        [
            replace(ask(question, answer, "Tell me more.", max_tokens=8), chat=request.chat)
            for question, answer, request in zip(QUESTIONS, told, requests, strict=False)
        ],
    )
    for events in again:
        ready = events[0]
        assert isinstance(ready, PromptReady)
        assert ready.cached_tokens > ready.prompt_tokens // 2


def test_each_chat_finds_its_own_sequence_again(load: Load) -> None:
    """Two chats in turn keep everything evaluated of both; nothing is copied or read again."""
    engine = load(parallel=2, kept_bytes=0)
    chats = {"one": [QUESTIONS[0]], "two": [QUESTIONS[1]]}
    for turn in range(3):
        for chat, messages in chats.items():
            request = replace(ask(*messages, max_tokens=24), chat=chat)
            events = one_by_one(engine, [request])[0]
            ready = events[0]
            assert isinstance(ready, PromptReady)
            if turn:
                assert ready.prompt_tokens - ready.cached_tokens < 24
            messages += [text_of(events), "And what else is there?"]


def test_more_than_there_are_sequences_is_a_mistake_of_the_caller(load: Load) -> None:
    engine = load(parallel=2)
    with closing(engine.chat(ask("Hello"), CancelToken())) as one:
        next(one)
        with closing(engine.chat(ask("Hello"), CancelToken())) as two:
            next(two)
            with pytest.raises(RuntimeError, match="busy"):
                next(engine.chat(ask("Hello"), CancelToken()))
        assert text_of(one_by_one(engine, [ask("Hello")])[0])


@pytest.mark.parametrize("kind", ["head", "eagle"])
def test_nothing_is_kept_for_the_drafter_of_a_slot_in_which_nothing_is_written(
    load: Load, pairs: dict[str, Pair], kind: str
) -> None:
    engine = load(pairs[kind].model, drafter=pairs[kind].drafter, parallel=2)
    one_by_one(engine, [drafting(replace(ask(QUESTIONS[0], max_tokens=8), chat="one"), 2)])
    loaded = engine.chat_model
    with closing(
        engine.chat(
            drafting(replace(ask(QUESTIONS[1], max_tokens=8), chat="two"), 2), CancelToken()
        )
    ) as events:
        next(events)
        assert len([*loaded.context._every_row, *loaded.context._layers]) == 1


def test_rows_are_those_of_the_sequence_that_asks(load: Load) -> None:
    """Two sequences in one evaluation draw the same as each alone."""
    engine = load(parallel=2)
    loaded = engine.chat_model
    texts = [loaded.model.vocabulary.tokenise(question) for question in QUESTIONS[:2]]
    rows = loaded.native.api.llama_get_logits_ith
    alone = []
    for sequence, text in enumerate(texts):
        assert loaded.context.evaluate_parts((BatchPart(text, 0, 1, sequence),)) == EVALUATED
        alone.append(rows(loaded.context.pointer, len(text) - 1)[0])
        loaded.slots[sequence].cache.clear()
    parts = [BatchPart(text, 0, 1, sequence) for sequence, text in enumerate(texts)]
    assert loaded.context.evaluate_parts(parts) == EVALUATED
    for sequence, text in enumerate(texts):
        row = loaded.context.first_row(sequence) + len(text) - 1
        assert rows(loaded.context.pointer, row)[0] == pytest.approx(alone[sequence], abs=0.05)
