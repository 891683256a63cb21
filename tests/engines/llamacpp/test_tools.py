"""A model in this process asks for a tool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import TemplateFailed
from engines.llamacpp.engine import LlamaCppEngine
from engines.types import LoadPlan, TextDelta, Tool, ToolCall
from tests.engines.asking import ask, done_of, run, text_of
from tests.support.made_thinker import write_caller, write_thinker

CLOCK = Tool("clock", "The time", {"type": "object"})


@pytest.fixture
def engine() -> Iterator[LlamaCppEngine]:
    engine = LlamaCppEngine()
    yield engine
    engine.close()


def load(engine: LlamaCppEngine, path: Path) -> None:
    engine.load(LoadPlan(path, 256, 2, 2, draft_max=0), lambda _: None, CancelToken())


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


def test_a_model_without_tools_says_so(engine: LlamaCppEngine, tmp_path: Path) -> None:
    load(engine, write_thinker(tmp_path / "thinker.gguf"))
    with pytest.raises(TemplateFailed, match="tools"):
        run(engine, ask("How late is it?", tools=(CLOCK,)))
