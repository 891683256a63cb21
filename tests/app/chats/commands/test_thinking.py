"""`--think`, `--effort` and `--think-budget`, and /think in a chat."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from app.cli.main import main
from engines.types import ReasoningDelta, WasReasoning
from tests.support.made_thinker import REASONING, TEXT, write_thinker
from tests.support.scripted import ScriptedEngine
from tests.support.terminal import Hearth


def test_what_is_asked_for_reaches_the_engine(hearth: Hearth, engine: ScriptedEngine) -> None:
    assert hearth("ask", "Hi") == 0
    assert hearth("ask", "Hi", "--think", "on", "--effort", "high", "--think-budget", "0") == 0
    assert hearth("ask", "Hi", "--think", "off") == 0
    found = [(it.thinking, it.effort, it.thinking_budget) for it in engine.requests]
    assert found == [(None, None, None), (True, "high", 0), (False, None, None)]


def test_a_model_without_a_switch_says_so(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("ask", "Hi", "--think", "on") == 0
    assert "This model answers without thinking first." in capsys.readouterr().err
    engine.says = {"thinking": "switch"}
    assert hearth("ask", "Hi", "--think", "on") == 0
    assert "thinking first" not in capsys.readouterr().err


def test_reasoning_is_no_part_of_what_is_printed(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.pieces = (ReasoningDelta("Hm."), "Yes.")
    assert hearth("ask", "Hi") == 0
    out, err = capsys.readouterr()
    assert out == "Yes.\n"
    assert err.count("Thinking …") == 1


def test_an_answer_that_turns_out_to_be_reasoning(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.pieces = ("Hm.", WasReasoning(), "Yes.")
    assert hearth("ask", "Hi", "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["reasoning"], value["text"]) == ("Hm.", "Yes.")


def test_a_wrong_switch_is_a_wrong_command(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("ask", "Hi", "--think", "maybe") == 2
    assert "maybe is neither on nor off" in capsys.readouterr().err


def test_a_chat_has_a_command_for_it(
    hearth: Hearth, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "One\n/think on\nTwo\n/think perhaps\n/think off\nThree"
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    assert hearth("chat", "--think-budget", "9") == 0
    found = [(it.thinking, it.thinking_budget) for it in engine.requests]
    assert found == [(None, 9), (True, 9), (False, 9)]


@pytest.mark.parametrize("budget", [None, 2])
def test_a_real_model_thinks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], budget: int | None
) -> None:
    path = str(write_thinker(tmp_path / "thinker.gguf"))
    limit = [] if budget is None else ["--think-budget", str(budget)]
    assert main(["ask", "Why?", "--model", path, "--think", "on", "--json", *limit]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["text"] == TEXT
    assert value["reasoning"] == (REASONING if budget is None else " tool yes")
    assert value["usage"]["reasoning_tokens"] == (10 if budget is None else budget)
