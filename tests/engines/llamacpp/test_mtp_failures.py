"""Drafts when something fails or is as small as possible: nothing crashes, leaks or stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import GrammarInvalid, NotEnoughMemory
from engines.llamacpp import answer
from engines.llamacpp import loaded as loading
from engines.llamacpp.context import Context
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native
from engines.llamacpp.resume.states import StateFolder
from engines.llamacpp.sampling import Greedy
from engines.types import Event, LlamaPlan, PromptReady
from tests.engines.contract import ask, done_of, run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.drafting import (
    QUESTION,
    Pair,
    assert_as_without,
    drafting,
    held,
    plain,
    stopped,
)


@pytest.mark.parametrize("failing", ["Context", "open_draftings"])
def test_a_context_that_cannot_be_changed_leaves_nothing_loaded(
    pairs: dict[str, Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    engine = LlamaCppEngine(states=StateFolder(tmp_path / "states", 1 << 28))
    engine.load(LlamaPlan(pairs["head"].model, 512, 1, 1), lambda _: None, CancelToken())
    request = replace(QUESTION, chat="one", max_tokens=8)
    run(engine, drafting(request))

    def fail(*_: object, **__: object) -> None:
        raise NotEnoughMemory("It does not fit.", "Too large.", "Close something.")

    monkeypatch.setattr(loading, failing, fail)
    with pytest.raises(NotEnoughMemory):
        run(engine, plain(request))
    assert engine.status().state == "stopped"
    engine.close()


def test_what_cannot_be_put_away_does_not_keep_a_model_in_memory(
    engine: LlamaCppEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = engine.chat_model

    def fail() -> None:
        raise MemoryError

    monkeypatch.setattr(loaded.slots[0].cache, "save_to_disk", fail)
    with pytest.raises(MemoryError):
        engine.close()
    assert engine.status().state == "stopped"
    assert (loaded.model.pointer, loaded.context.pointer) == (None, None)


@pytest.mark.parametrize(
    ("shape", "batch", "draft_max"),
    [
        ("heads", 64, 1),
        ("heads", 2, 8),
        *product(["head", "eagle", "dflash", "dflash 2", "dspark"], [8, 2], [8]),
        ("drafter", 2, 8),
    ],
)
def test_no_batch_or_depth_is_too_small(
    load: Load, pairs: dict[str, Pair], shape: str, batch: int, draft_max: int
) -> None:
    pair = pairs[shape]
    engine = load(pair.model, drafter=pair.drafter, context=64, batch=batch, draft_max=draft_max)
    request = replace(QUESTION, max_tokens=12)
    assert text_of(run(engine, drafting(request, 8))) == text_of(run(engine, plain(request)))


@pytest.mark.parametrize("shape", ["head", "heads", "eagle", "dflash"])
def test_a_cancelled_answer_costs_a_head_nothing(
    load: Load, pairs: dict[str, Pair], shape: str
) -> None:
    engine = load(pairs[shape].model, drafter=pairs[shape].drafter)
    stopped(engine, drafting(QUESTION, 1), 9)
    assert engine.chat_model.slots[0].drafting.save() is not None


def test_a_head_that_fails_once_joins_in_again(load: Load, pairs: dict[str, Pair]) -> None:
    engine = load(pairs["head"].model, batch=16)
    drafting_by = engine.chat_model.slots[0].drafting.each[0]
    drafter, draft = drafting_by.drafter, drafting_by.context
    assert drafter is not None
    assert draft is not None
    observe, evaluate = drafter.observe, draft.evaluate
    failures, known = [-1], []

    def fail_once(*given: object, **named: object) -> int:
        return failures.pop() if failures else evaluate(*given, **named)  # type: ignore[arg-type]

    def watched(tokens: Sequence[int], start: int) -> None:
        observe(tokens, start)
        length = drafter.length  # type: ignore[attr-defined]
        known.append((length, start + len(tokens)))

    drafter.observe = watched  # type: ignore[method-assign]
    draft.evaluate = fail_once  # type: ignore[method-assign]
    events = run(engine, drafting(QUESTION, 1))
    assert not failures
    assert [expected - found for found, expected in known if found != expected] == [16]
    report = done_of(events).mtp
    assert report.accepted > report.drafted // 2


@pytest.mark.parametrize(
    ("kind", "step"),
    [("eagle", "_encode"), ("eagle", "evaluate"), ("dflash", "remember"), ("dflash", "evaluate")],
)
def test_a_fed_drafter_that_fails_once_joins_in_again(
    load: Load, pairs: dict[str, Pair], kind: str, step: str
) -> None:
    engine = load(pairs[kind].model, drafter=pairs[kind].drafter, batch=16)
    whole = text_of(run(engine, drafting(QUESTION, 1)))
    engine.chat_model.slots[0].cache.clear()
    draft = engine.chat_model.slots[0].drafting.each[0].context
    real, failures = getattr(draft, step), [-1]

    def fail_once(*given: object, **named: object) -> object:
        return failures.pop() if failures else real(*given, **named)

    setattr(draft, step, fail_once)
    events = run(engine, drafting(QUESTION, 1))
    assert not failures
    assert text_of(events) == whole
    report = done_of(events).mtp
    assert report.accepted > report.drafted // 2


def test_a_grammar_that_ends_an_answer_ends_it_where_it_does_without_drafts(
    engine: LlamaCppEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NineTokens(Greedy):
        drawn = 0

        def draw(self, context: Context, row: int = -1) -> int:
            if self.drawn == 9:
                raise GrammarInvalid("The answer cannot continue.", "No token fits.", "Ask again.")
            self.drawn += 1
            return super().draw(context, row)

    def opened(native: Native, model: Model, *_: object, **__: object) -> NineTokens:
        return NineTokens(native, model.vocabulary.size)

    monkeypatch.setattr(answer, "open_sampler", opened)
    ends = []
    for change in (plain, drafting):
        engine.chat_model.slots[0].cache.clear()
        events: list[Event] = []
        with pytest.raises(GrammarInvalid):
            events.extend(engine.chat(change(QUESTION), CancelToken()))
        ends.append(held(engine))
    assert_as_without(engine, ends[0])


def test_a_check_leaves_the_chat_before_it_as_it_was(load: Load, pair: Pair) -> None:
    engine = load(pair.model, drafter=pair.drafter, kept_bytes=1 << 26)
    run(engine, drafting(replace(QUESTION, chat="one")))
    known = engine.chat_model.slots[0].cache.known("one")
    engine.check_mtp(replace(ask("Something else."), max_tokens=8), 2, CancelToken())
    assert engine.chat_model.slots[0].cache.known("one") == known
    again, *_ = run(engine, drafting(replace(QUESTION, chat="one")))
    assert isinstance(again, PromptReady)
    assert again.cached_tokens == again.prompt_tokens - 1
