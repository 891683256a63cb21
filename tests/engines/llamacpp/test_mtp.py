"""Answers with drafts leave everything as answers without them, and report their drafts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partialmethod
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from engines.cancel import CancelToken
from engines.errors import DrafterMismatch
from engines.llamacpp import engine as llamacpp_engine
from engines.llamacpp import loaded as loading
from engines.llamacpp.context import BatchPart, Context
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.resume.states import StateFolder
from engines.llamacpp.speculative import calibration
from engines.llamacpp.speculative.cost_book import CostBook
from engines.llamacpp.speculative.costs import Costs
from engines.llamacpp.speculative.draft_context import BlockContext, GuessContext, LayerRows
from engines.types import (
    ChatRequest,
    Done,
    Event,
    LlamaPlan,
    Message,
    MtpReport,
    PromptReady,
    Sampling,
    TextDelta,
)
from tests.engines.contract import ask, done_of, run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.drafting import (
    QUESTION,
    STARTER_DRAFTER,
    Pair,
    assert_as_without,
    drafting,
    held,
    plain,
    stopped,
)
from tests.engines.llamacpp.random_models import STARTER
from tests.support.made_fed import write_eagle
from tests.support.mtp_models import Gemma, write_gemma

NEXT = "And who can read them?"


def cut_short(engine: LlamaCppEngine, request: ChatRequest, pieces: int) -> list[Event]:
    """Return the events up to this piece of text; then the user leaves."""
    events: list[Event] = []
    answering = engine.chat(request, CancelToken())
    for event in answering:
        events.append(event)
        if sum(isinstance(event, TextDelta) for event in events) == pieces:
            break
    answering.close()
    return events


def at_a_stop_string(engine: LlamaCppEngine, request: ChatRequest) -> list[Event]:
    """Return an answer that ends at a string from its own middle."""
    whole = text_of(run(engine, plain(request)))
    engine.chat_model.slots[0].cache.clear()
    return run(engine, replace(request, stop=(whole[len(whole) // 2 :][:4],)))


ENDINGS: dict[str, Callable[[LlamaCppEngine, ChatRequest], list[Event]]] = {
    "by itself": run,
    "at a stop string": at_a_stop_string,
    "at the longest length": lambda engine, request: run(engine, replace(request, max_tokens=7)),
    "at the end of the context": lambda engine, request: run(
        engine, replace(request, max_tokens=None)
    ),
    "when it is cancelled": lambda engine, request: stopped(engine, request, 9),
    "when nobody listens": lambda engine, request: cut_short(engine, request, 9),
    "at its first token": lambda engine, request: run(engine, replace(request, max_tokens=1)),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_however_an_answer_ends_the_cache_is_as_without_drafts(
    engine: LlamaCppEngine, ending: str
) -> None:
    answer = ENDINGS[ending]
    without = answer(engine, plain(QUESTION))
    expected = held(engine)
    for depth in (1, 3, 8):
        engine.chat_model.slots[0].cache.clear()
        with_drafts = answer(engine, drafting(QUESTION, depth))
        assert text_of(with_drafts) == text_of(without), depth
        assert_as_without(engine, expected)
        if isinstance(without[-1], Done):
            one, other = done_of(without), done_of(with_drafts)
            assert (other.finish_reason, other.usage) == (one.finish_reason, one.usage), depth


def test_a_second_turn_after_a_rejection_is_the_same(engine: LlamaCppEngine) -> None:
    texts = []
    for change in (plain, drafting):
        engine.chat_model.slots[0].cache.clear()
        first = run(engine, change(QUESTION))
        turns = (*QUESTION.messages, Message("assistant", text_of(first)), Message("user", NEXT))
        second = run(engine, change(replace(QUESTION, messages=turns)))
        texts.append((text_of(first), text_of(second), held(engine)))
        assert done_of(second).usage.cached_tokens > 0
    assert texts[0] == texts[1]


def test_the_switch_needs_no_reload(engine: LlamaCppEngine) -> None:
    loaded = engine.chat_model
    answers = []
    for change in (plain, drafting, plain, drafting):
        events = run(engine, change(QUESTION))
        answers.append(text_of(events))
        assert done_of(events).mtp.active is (change is drafting)
    assert len(set(answers)) == 1
    assert engine.chat_model is loaded


@pytest.mark.parametrize("kind", ["head apart", "model", "eagle", "dflash"])
def test_what_another_drafter_kept_is_not_taken(
    load: Load, pairs: dict[str, Pair], kind: str, tmp_path: Path
) -> None:
    pair = pairs[kind]
    assert pair.drafter is not None
    other = Path(shutil.copy(pair.drafter, tmp_path / "other.gguf"))
    ours, theirs = load(pair.model, drafter=pair.drafter), load(pair.model, drafter=other)
    run(ours, drafting(QUESTION))
    kept = ours.chat_model.slots[0].drafting.save()
    assert kept is not None
    theirs.chat_model.slots[0].drafting.restore(kept)
    assert theirs.chat_model.slots[0].drafting.save() is None
    ours.chat_model.slots[0].drafting.restore(None)
    assert ours.chat_model.slots[0].drafting.save() is None
    ours.chat_model.slots[0].drafting.restore(kept)
    assert ours.chat_model.slots[0].drafting.save() == kept


def test_a_recurrent_state_pays_for_drafts_only_where_they_are_made(
    load: Load, pairs: dict[str, Pair]
) -> None:
    """Its context changes with the switch, and its tokens move along."""
    engine = load(pairs["head"].model, draft_max=3)
    loaded = engine.chat_model
    history, kept, rooms = QUESTION.messages, [], []
    for number, change in enumerate((plain, drafting, plain, drafting)):
        asked = replace(QUESTION, messages=history, max_tokens=24)
        done = done_of(events := run(engine, change(asked)))
        kept.append(done.usage.cached_tokens)
        rooms.append(loaded.context.drafts)
        reply = Message("assistant", text_of(events))
        history = (*history, reply, Message("user", f"{NEXT} {number}"))
    assert rooms == [0, 3, 0, 3]
    assert kept[0] == 0
    assert all(later > earlier for earlier, later in pairwise(kept))


def test_drafts_are_good_after_answers_without_them(engine: LlamaCppEngine) -> None:
    """Tokens that a head missed meanwhile must not spoil its guesses for ever."""
    run(engine, plain(QUESTION))
    other = ask("How do I delete a chat?", max_tokens=96)
    run(engine, plain(other))
    report = done_of(run(engine, drafting(other, 1))).mtp
    assert report.accepted > report.drafted // 2


@pytest.mark.parametrize("kind", ["eagle", "dflash", "dflash 2", "dspark"])
def test_guesses_need_what_went_into_the_models_layers(
    load: Load, pairs: dict[str, Pair], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pairs[kind]
    engine = load(pair.model, drafter=pair.drafter, kept_bytes=0)
    shares, texts = [], []
    for fed in (True, False):
        engine.chat_model.slots[0].cache.clear()
        with monkeypatch.context() as patched:
            if not fed:
                patched.setattr(LayerRows, "take", lambda *_: None)
            events = run(engine, drafting(QUESTION, 1))
        report = done_of(events).mtp
        shares.append(report.accepted / report.drafted)
        texts.append(text_of(events))
    assert texts[0] == texts[1]
    assert shares[0] > 0.7
    assert shares[1] < shares[0] - 0.05


def test_a_block_has_room_for_as_many_guesses_as_are_wanted(
    load: Load, pairs: dict[str, Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pairs["dflash"]
    engine = load(pair.model, drafter=pair.drafter)
    asked, lengths = replace(QUESTION, max_tokens=40), []
    evaluate = BlockContext.evaluate

    def noted(draft: BlockContext, tokens: Sequence[int], start: int, *, outputs: int) -> int:
        lengths.append(len(tokens))
        return evaluate(draft, tokens, start, outputs=outputs)

    monkeypatch.setattr(BlockContext, "evaluate", noted)
    found = {}
    for depth in (2, 8):
        lengths.clear()
        run(engine, drafting(asked, depth))
        found[depth] = list(lengths)
    assert found[2][:5] == [9, 3, 3, 3, 3]
    assert found[8][:5] == [9] * 5


@pytest.mark.parametrize("kind", ["head", "eagle", "dflash"])
def test_a_chat_comes_back_with_what_its_head_knows(
    load: Load, pairs: dict[str, Pair], kind: str
) -> None:
    pair = pairs[kind]
    engine = load(pair.model, drafter=pair.drafter, context=1024)
    run(engine, drafting(replace(QUESTION, chat="one"), 1))
    drafter = engine.chat_model.slots[0].drafting.each[0].drafter
    length = drafter.length  # type: ignore[union-attr]
    long = ask("Something else. " * 20, max_tokens=48)
    run(engine, drafting(replace(long, chat="two"), 1))
    back = run(engine, drafting(replace(QUESTION, chat="one"), 1))
    assert isinstance(back[0], PromptReady)
    assert back[0].cached_tokens > 0
    assert drafter.length >= length - 8  # type: ignore[union-attr]
    guessing = engine.chat_model.slots[0].drafting.each[0].context
    assert guessing is not None
    memory, api = guessing.context.memory, engine.chat_model.native.api
    begins = int(api.llama_memory_seq_pos_min(memory, 0))
    # Only the part of a sliding layer that it still uses is put away.
    assert begins == 0 or kind == "dflash"


def test_on_drafts_and_reports(engine: LlamaCppEngine) -> None:
    events = run(engine, replace(QUESTION, mtp="on"))
    report = done_of(events).mtp
    assert report.mode == "on"
    assert report.active
    assert 0 < report.accepted <= report.drafted
    assert report.reason.startswith("MTP on: ")
    assert f"{round(100 * report.accepted / report.drafted)} % accepted" in report.reason
    assert any(isinstance(event, MtpReport) for event in events[1:-1])
    assert report.gain is None or report.gain > 0, "none before a plain step was timed"
    assert report.bound


def test_off_is_off(engine: LlamaCppEngine) -> None:
    events = run(engine, plain(QUESTION))
    assert done_of(events).mtp == MtpReport(
        "off", False, "MTP is off, as chosen.", kind=done_of(events).mtp.kind
    )
    assert not any(isinstance(event, MtpReport) for event in events)


def test_a_fixed_depth_is_kept(engine: LlamaCppEngine) -> None:
    report = done_of(run(engine, drafting(replace(QUESTION, max_tokens=41), 2))).mtp
    assert report.drafted >= 2 * (40 // 3)


def test_text_of_the_prompt_is_copied(load: Load, random_llama: Path) -> None:
    """A model without MTP that repeats itself drafts from its earlier text."""
    engine = load(random_llama)
    request = ask("Repeat. Repeat. Repeat.", max_tokens=96)
    without = run(engine, plain(request))
    with_drafts = run(engine, replace(request, mtp="on"))
    assert text_of(with_drafts) == text_of(without)
    report = done_of(with_drafts).mtp
    assert report.kind == "lookup"
    assert report.accepted > 0


@pytest.mark.parametrize("kind", ["marked", "head apart"])
def test_a_recurrent_model_without_a_drafter_copies_text_too(
    load: Load, pairs: dict[str, Pair], kind: str
) -> None:
    """It needs no other context for that; asked the same again, it gives the same answer."""
    engine = load(pairs[kind].model, context=1024)
    loaded = engine.chat_model
    context = loaded.context
    assert context.marks
    first = text_of(run(engine, plain(QUESTION)))
    again = replace(
        QUESTION, messages=(*QUESTION.messages, Message("assistant", first), *QUESTION.messages)
    )
    without = run(engine, plain(again))
    loaded.slots[0].cache.clear()
    with_drafts = run(engine, drafting(again))
    assert text_of(with_drafts) == text_of(without)
    report = done_of(with_drafts).mtp
    assert report.kind == "lookup"
    assert report.accepted > 10
    assert loaded.context is context


MARKED = pytest.mark.parametrize("kind", ["marked", "marked head"])


@MARKED
@pytest.mark.parametrize("depth", [1, 3, 8])
def test_branches_other_chats_and_a_new_start_find_a_marked_state_as_it_was(
    load: Load, pairs: dict[str, Pair], kind: str, depth: int, tmp_path: Path
) -> None:
    texts: list[list[str]] = []
    cached: list[int] = []
    for change in (plain, lambda request: drafting(request, depth)):
        folder = tmp_path / str(len(texts))
        told: list[str] = []

        def answer(engine: LlamaCppEngine, request: ChatRequest) -> Message:
            events = run(engine, change(request))  # noqa: B023  called within this round
            told.append(text_of(events))  # noqa: B023
            cached.append(done_of(events).usage.cached_tokens)
            return Message("assistant", told[-1])  # noqa: B023

        first = replace(QUESTION, chat="one", max_tokens=40)
        plan: dict[str, object] = {
            "drafter": pairs[kind].drafter, "context": 1024, "kept_bytes": 256 << 20,
            "states": StateFolder(folder, 1 << 30),
        }  # fmt: skip
        engine = load(pairs[kind].model, **plan)
        reply = answer(engine, first)
        turns = (*first.messages, reply, Message("user", NEXT))
        answer(engine, replace(first, messages=turns))
        answer(engine, replace(first, messages=(*turns[:-1], Message("user", "Another way?"))))
        answer(engine, replace(ask("Something else. " * 8, max_tokens=40), chat="two"))
        answer(engine, replace(first, messages=turns))
        engine.close()
        answer(load(pairs[kind].model, **plan), replace(first, messages=turns))
        texts.append(told)
    assert texts[0] == texts[1]
    assert all(cached[at] > 0 for at in (1, 2, 4, 5, 7, 8, 10, 11))


@MARKED
def test_a_cancel_within_a_trial_leaves_the_marked_state(
    load: Load, pairs: dict[str, Pair], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """llama.cpp ends the evaluation halfway; the tokens evaluated before are not lost."""
    engine = load(pairs[kind].model, drafter=pairs[kind].drafter)
    loaded = engine.chat_model
    whole = text_of(run(engine, plain(QUESTION)))
    loaded.slots[0].cache.clear()
    cancel, evaluate, trials = CancelToken(), Context.evaluate_parts, 0

    def interrupted(self: Context, parts: Sequence[BatchPart]) -> int:
        nonlocal trials
        trials += parts[0].outputs > 1
        if trials == 9:
            cancel.cancel()
        return evaluate(self, parts)

    with monkeypatch.context() as patched:
        patched.setattr(Context, "evaluate_parts", interrupted)
        events = list(engine.chat(drafting(QUESTION, 2), cancel))
    assert done_of(events).finish_reason == "cancelled"
    written = text_of(events)
    assert whole.startswith(written)
    tokens, _, last = held(engine)
    usage = done_of(events).usage
    assert last == len(tokens) - 1
    assert usage.prompt_tokens < len(tokens) <= usage.prompt_tokens + usage.completion_tokens
    turns = (*QUESTION.messages, Message("assistant", written), Message("user", NEXT))
    later = [text_of(run(engine, drafting(replace(QUESTION, messages=turns))))]
    loaded.slots[0].cache.clear()
    later.append(text_of(run(engine, plain(replace(QUESTION, messages=turns)))))
    assert later[0] == later[1]


def test_a_wrong_drafter_is_refused_before_anything_is_loaded(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = Gemma(window=256)
    model, drafter = write_gemma(tmp_path / "gemma.gguf", tmp_path / "gemma-mtp.gguf", shape)
    monkeypatch.setattr(
        llamacpp_engine, "open_model", lambda *_, **__: pytest.fail("it was loaded")
    )
    for wrong in (Pair(STARTER, drafter), Pair(model, STARTER_DRAFTER), Pair(STARTER, model)):
        with pytest.raises(DrafterMismatch):
            load(wrong.model, drafter=wrong.drafter)


@pytest.mark.parametrize(
    ("step", "times"), [(1.1, 2), (3.0, 5)], ids=["once", "again where drafts could not win"]
)
def test_costs_are_measured(
    pairs: dict[str, Pair],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: float,
    times: int,
) -> None:
    """They are measured once for each number of threads, and stored.

    A hopeless curve is never trusted at once, and never for good.
    """
    measured: list[Costs] = []

    def measure(context: Context, *_: object) -> Costs:
        measured.append(Costs({0: 1.0, 1: step, 3: 2 * step}, 0.1, context.drafts))
        return measured[-1]

    monkeypatch.setattr(loading, "measure_costs", measure)
    for threads in (1, 1, 2):
        engine = LlamaCppEngine(CostBook(tmp_path / "costs.json"))
        pair = pairs["drafter"]
        plan = LlamaPlan(pair.model, 512, threads, threads, drafter=pair.drafter)
        engine.load(plan, lambda _: None, CancelToken())
        engine.close()
    assert len(measured) == times


def test_a_measurement_counts_the_tokens_that_are_evaluated(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock on which each call takes one unit, and each of its tokens another."""
    now = 0.0
    for kind in (Context, GuessContext):

        def evaluate(
            context: Any, tokens: Sequence[int], start: int, *, outputs: int, real: Any
        ) -> int:
            nonlocal now
            now += 0.001 * (1 + len(tokens))
            return int(real(context, tokens, start, outputs=outputs))

        monkeypatch.setattr(kind, "evaluate", partialmethod(evaluate, real=kind.evaluate))
    monkeypatch.setattr(calibration, "perf_counter", lambda: now)
    engine = load(STARTER, drafter=STARTER_DRAFTER)
    assert engine.chat_model.slots[0].speculation is not None
    costs = engine.chat_model.slots[0].speculation.costs
    assert [costs.ratio(k) for k in (1, 3, 7)] == pytest.approx([1.5, 2.5, 4.5])
    assert costs.draft == pytest.approx(1.0)


def test_a_damaged_book_of_costs_is_measured_anew(tmp_path: Path) -> None:
    for text in ("", "[1]", '{"key": {"format": 1}}', "\0"):
        file = tmp_path / "costs.json"
        file.write_text(text)
        book = CostBook(file)
        assert book.get("key") is None
        book.keep("key", Costs({0: 1.0, 1: 1.5}))
        kept = CostBook(file).get("key")
        assert kept is not None
        assert kept.ratio(1) == pytest.approx(1.5)


def test_sampling_draws_one_number_for_each_token(load: Load) -> None:
    """With one seed the tokens of a model without near-ties are those of plain decoding."""
    engine = load(STARTER, drafter=STARTER_DRAFTER)
    warm = replace(QUESTION, sampling=Sampling(temperature=0.5, seed=11), max_tokens=48)
    assert text_of(run(engine, plain(warm))) == text_of(run(engine, drafting(warm, 3)))


def test_of_two_drafters_the_one_that_is_right_more_often_drafts(
    load: Load, pairs: dict[str, Pair], tmp_path: Path
) -> None:
    """Each is tried, and the worse one again now and then: the next text may suit it."""
    poor = write_eagle(tmp_path / "poor.gguf", noise=3.0)
    engine = load(pairs["head"].model, drafter=poor)
    kinds = [done_of(run(engine, replace(QUESTION, mtp="on"))).mtp.kind for _ in range(20)]

    assert set(kinds[:3]) == {"drafter", "embedded"}
    assert kinds[3:7] == ["embedded"] * 4
    assert kinds.count("drafter") <= 5
    assert "drafter" in kinds[7:]
