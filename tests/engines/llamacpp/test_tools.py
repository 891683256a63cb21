"""Tool calls of a model in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.llamacpp.engine import LlamaCppEngine
from engines.types import LlamaPlan, Message, TextDelta, Tool, ToolCall
from tests.engines.asking import ask, done_of, run, text_of
from tests.support.made_thinker import write_caller, write_thinker

CLOCK = Tool("clock", "The time", {"type": "object"})


@pytest.fixture
def engine() -> Iterator[LlamaCppEngine]:
    engine = LlamaCppEngine()
    yield engine
    engine.close()


def load(engine: LlamaCppEngine, path: Path) -> None:
    engine.load(LlamaPlan(path, 256, 2, 2, draft_max=0), lambda _: None, CancelToken())


def test_a_call_is_an_event(engine: LlamaCppEngine, tmp_path: Path) -> None:
    load(engine, write_caller(tmp_path / "caller.gguf"))
    without = run(engine, ask("How late is it?"))
    assert text_of(without).startswith("<tool_call>"), "who was offered nothing asks for nothing"
    events = run(engine, ask("How late is it?", tools=(CLOCK,)))
    (call,) = [it for it in events if isinstance(it, ToolCall)]
    assert (call.name, json.loads(call.arguments)) == ("clock", {})
    assert not [it for it in events if isinstance(it, TextDelta)]
    assert done_of(events).finish_reason == "tool"
    longer = done_of(events).usage.prompt_tokens
    assert longer > done_of(without).usage.prompt_tokens, "the tool is in the prompt"


def test_a_model_without_tools_is_told_of_them_in_words(
    engine: LlamaCppEngine, tmp_path: Path
) -> None:
    load(engine, write_thinker(tmp_path / "thinker.gguf"))
    offered = done_of(run(engine, ask("How late is it?", tools=(CLOCK,))))
    plain = done_of(run(engine, ask("How late is it?")))
    assert offered.usage.prompt_tokens > plain.usage.prompt_tokens + 20


def test_results_of_tools_are_in_the_prompt(engine: LlamaCppEngine, tmp_path: Path) -> None:
    load(engine, write_caller(tmp_path / "caller.gguf"))
    question = Message("user", "How late is it?")
    call = ToolCall("clock", "{}", "call_7")
    asked = (question, Message("assistant", "", calls=(call,)))
    told = (*asked, Message("tool", "It is eight.", tool="clock", call_id="call_7"))
    short = done_of(run(engine, replace(ask("?", tools=(CLOCK,)), messages=asked)))
    long = done_of(run(engine, replace(ask("?", tools=(CLOCK,)), messages=told)))
    assert long.usage.prompt_tokens > short.usage.prompt_tokens
