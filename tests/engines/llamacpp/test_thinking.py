"""Reasoning in real models: switched, ended by a budget, before a grammar, and in the KV cache."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.llamacpp.engine import LlamaCppEngine
from engines.types import (
    ChatRequest,
    Event,
    Message,
    PromptReady,
    ReasoningDelta,
    Sampling,
)
from tests.engines.contract import ask, done_of, run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.random_models import write_random_llama
from tests.support.made_apart import cut_off
from tests.support.made_thinker import REASONING, TEXT, THOUGHTS, thinking_tokens, write_thinker
from tests.support.mtp_models import quantised, write_gemma, write_qwen
from tests.support.suite import sampled

THINKING = ask("Why?", thinking=True, max_tokens=60)
DIGITS = 'root ::= [0-9]+ "."'


@dataclass(frozen=True)
class Made:
    """Models whose template thinks; all except the thinker think without end."""

    thinker: Path
    qwen: Path
    gemma: tuple[Path, Path]
    pairs: dict[str, tuple[Path, Path | None]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("thinking")
    tokens = thinking_tokens()
    qwen = write_qwen(folder / "qwen.gguf", tokens=thinking_tokens("qwen3_thinking"))
    gemma = write_gemma(folder / "gemma.gguf", folder / "drafter.gguf", tokens=tokens)
    pairs: dict[str, tuple[Path, Path | None]] = {
        "head": (qwen, None),
        "head apart": cut_off(qwen, folder / "trunk.gguf", folder / "mtp-trunk.gguf"),
        "drafter": gemma,
        "model": (gemma[0], quantised(gemma[0], folder / "small.gguf", "Q8_0")),
    }
    return Made(write_thinker(folder / "thinker.gguf"), qwen, gemma, pairs)


@pytest.fixture
def thinker(load: Load, made: Made) -> LlamaCppEngine:
    return load(made.thinker)


def thoughts_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta))


def prompt_of(events: list[Event]) -> PromptReady:
    assert isinstance(events[0], PromptReady)
    return events[0]


def test_a_model_thinks_when_it_is_asked_to(thinker: LlamaCppEngine) -> None:
    report = thinker.chat_model.report
    assert (report.thinking, report.thinks, report.efforts) == ("switch", False, ())
    on = run(thinker, THINKING)
    assert (thoughts_of(on), text_of(on)) == (REASONING, TEXT)
    assert done_of(on).usage.reasoning_tokens == len(THOUGHTS)
    for thinking in (False, None):
        off = run(thinker, replace(THINKING, thinking=thinking))
        assert (thoughts_of(off), text_of(off)) == ("", TEXT)


@pytest.mark.parametrize("budget", range(len(THOUGHTS) + 2))
def test_a_budget_is_exact(thinker: LlamaCppEngine, budget: int) -> None:
    events = run(thinker, replace(THINKING, thinking_budget=budget))
    expected = "".join(THOUGHTS[:budget]).replace("▁", " ")
    assert (thoughts_of(events), text_of(events)) == (expected, TEXT)
    assert done_of(events).usage.reasoning_tokens == min(budget, len(THOUGHTS))
    assert done_of(events).finish_reason == "stop"


def test_a_budget_changes_nothing_where_nothing_is_thought(thinker: LlamaCppEngine) -> None:
    events = run(thinker, replace(THINKING, thinking=False, thinking_budget=0))
    assert (thoughts_of(events), text_of(events)) == ("", TEXT)


@pytest.mark.parametrize("sampling", [Sampling(temperature=0.0), Sampling(seed=5)], ids=str)
@pytest.mark.parametrize("budget", [0, 1, 4, 17])
@pytest.mark.parametrize(
    "kind", sampled(["head", "head apart", "drafter", "model"], ["head", "drafter"])
)
def test_drafts_change_nothing_about_a_budget(
    load: Load, made: Made, kind: str, budget: int, sampling: Sampling
) -> None:
    path, drafter = made.pairs[kind]
    engine = load(path, drafter=drafter, context=512)
    asked = replace(THINKING, sampling=sampling, thinking_budget=budget)
    if path == made.gemma[0]:
        # It would not begin to think by itself.
        asked = replace(
            asked, messages=(*asked.messages, Message("assistant", "", reasoning="Hm."))
        )
    plain = run(engine, replace(asked, mtp="off"))
    drafted = run(engine, replace(asked, mtp="on", depth=4))
    assert done_of(drafted).mtp.drafted > 0
    assert (thoughts_of(drafted), text_of(drafted)) == (thoughts_of(plain), text_of(plain))
    for events in (plain, drafted):
        assert done_of(events).usage.reasoning_tokens == budget
        assert done_of(events).usage.completion_tokens == 60
        assert bool(thoughts_of(events)) == (budget > 0)
        assert text_of(events)


def test_a_grammar_holds_for_the_answer_and_not_for_the_reasoning(thinker: LlamaCppEngine) -> None:
    digits = Sampling(temperature=0.0, grammar=DIGITS)
    for budget, expected in ((None, REASONING), (2, " tool yes"), (0, "")):
        events = run(thinker, replace(THINKING, sampling=digits, thinking_budget=budget))
        assert thoughts_of(events) == expected
        answer = text_of(events).removesuffix(".")
        assert answer.isdigit()
    silent = run(thinker, replace(THINKING, sampling=digits, thinking=False))
    assert thoughts_of(silent) == ""
    assert text_of(silent).removesuffix(".").isdigit()


def test_before_a_grammar_a_model_cannot_forget_to_think(load: Load, tmp_path: Path) -> None:
    """A model with random weights never writes the marker by itself."""
    engine = load(write_random_llama(tmp_path / "r.gguf", tokenizer=thinking_tokens().values))
    asked = replace(THINKING, sampling=Sampling(0.0, grammar=DIGITS), thinking_budget=5)
    events = run(engine, asked)
    assert done_of(events).usage.reasoning_tokens == 5
    assert text_of(events).rstrip(".").isdigit()


def test_reasoning_that_was_cut_is_gone_on_with(thinker: LlamaCppEngine) -> None:
    cancel = CancelToken()
    begun: list[Event] = []
    for event in thinker.chat(THINKING, cancel):
        begun.append(event)
        if thoughts_of(begun).endswith("age"):
            cancel.cancel()
    assert done_of(begun).finish_reason == "cancelled"
    rest = run(
        thinker,
        replace(
            THINKING,
            messages=(
                *THINKING.messages,
                Message("assistant", "", reasoning=thoughts_of(begun)),
            ),
        ),
    )
    assert thoughts_of(begun) + thoughts_of(rest) == REASONING
    assert text_of(rest) == TEXT


def second_turn(first: ChatRequest, events: list[Event]) -> ChatRequest:
    said = Message("assistant", text_of(events), reasoning=thoughts_of(events))
    return replace(first, messages=(*first.messages, said, Message("user", "And then?")))


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize("kind", ["thinker", "qwen", "gemma"])
def test_a_second_turn_evaluates_only_what_the_first_did_not_end_with(
    load: Load, made: Made, kind: str, thinking: bool
) -> None:
    """A model with a state that cannot be cut, or with a window, has a checkpoint there."""
    path = made.gemma[0] if kind == "gemma" else getattr(made, kind)
    engine = load(path, context=1024)
    long = "Tell me of the hearth, of warm windows and of what it keeps. " * 6
    asked = ask(long, thinking=thinking, thinking_budget=12, max_tokens=80, chat="a")
    asked = replace(asked, messages=(*asked.messages[:0], Message("user", long)))
    first = run(engine, asked)
    loaded = engine.chat_model
    stable = loaded.prompter.write(asked).stable
    second = prompt_of(run(engine, second_turn(asked, first)))
    assert stable > 60
    assert second.cached_tokens >= stable - 1
    assert second.prompt_tokens - second.cached_tokens < 120
