"""vLLM's parsers for reasoning and tool calls, chosen by a checkpoint's own markers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engines.vllm.parsing import Parsing, parsing_of
from tests.engines.vllm.faked import TARGET
from tests.engines.vllm.flags import model


def test_gemma_s_channels_and_calls_are_read_by_vllm() -> None:
    """The starter has the tokens of its family, though its template does not mention them."""
    found = parsing_of(TARGET)
    assert found.words == (
        *("--reasoning-parser", "gemma4"),
        *("--enable-auto-tool-choice", "--tool-call-parser", "gemma4"),
    )
    assert found.keep_special_tokens
    assert found.budget


def test_mistral_s_thoughts_and_calls_are_read_by_vllm(tmp_path: Path) -> None:
    marked = "[THINK] [/THINK] [TOOL_CALLS]"
    assert "mistral" in parsing_of(model(tmp_path, "", marked)).words


def test_the_tokens_of_mistral_s_own_tokeniser_count(tmp_path: Path) -> None:
    words = ("[THINK]", "[/THINK]", "[TOOL_CALLS]")
    tokens = [{"rank": at, "token_str": it} for at, it in enumerate(words)]
    (tmp_path / "tekken.json").write_text(json.dumps({"special_tokens": tokens}))
    assert "mistral" in parsing_of(tmp_path).words


def test_a_parser_is_not_used_where_its_tokens_are_missing(tmp_path: Path) -> None:
    """It would end the worker's start."""
    found = parsing_of(model(tmp_path, "[THINK] [/THINK]", "[THINK] [/THINK]"))
    assert "--reasoning-parser" not in found.words
    assert found.keep_special_tokens, "Hearth reads them itself"


def test_markers_that_are_text_are_read_by_hearth_and_can_be_limited(tmp_path: Path) -> None:
    found = parsing_of(model(tmp_path, "<think> </think>", plain="<think> </think>"))
    assert found.words[0] == "--reasoning-config"
    assert json.loads(found.words[1]) == {
        "reasoning_start_str": "<think>",
        "reasoning_end_str": "</think>",
    }
    assert (found.keep_special_tokens, found.budget) == (False, True)


@pytest.mark.parametrize(
    ("template", "tokens", "parser"),
    [
        ("tools <tool_call>", "", "hermes"),
        ("tools <tool_call> <function= <parameter=", "<tool_call> </tool_call>", "qwen3_xml"),
        ("tools <tool_call> <function= <parameter=", "", ""),
        ("[TOOL_CALLS] [ARGS]", "[TOOL_CALLS] [ARGS] [CALL_ID]", "mistral"),
        ("<|channel|> <|message|> <|start|>", "", ""),
    ],
)
def test_calls_are_read_by_vllm_where_it_knows_their_format(
    tmp_path: Path, template: str, tokens: str, parser: str
) -> None:
    found = parsing_of(model(tmp_path, template, tokens))
    assert found.tools == bool(parser)
    words = ("--enable-auto-tool-choice", "--tool-call-parser", parser)
    assert (found.words[-3:] == words) == bool(parser)


@pytest.mark.parametrize("template", ["", "Hello", "<|channel|> <|message|>"])
def test_nothing_is_said_of_others(tmp_path: Path, template: str) -> None:
    """vLLM parses gpt-oss's text without being asked."""
    assert parsing_of(model(tmp_path, template)) == Parsing()


@pytest.mark.parametrize("text", ["", "[]", '{"added_tokens": 7}', '{"added_tokens": [7]}'])
def test_a_damaged_tokeniser_is_no_end(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokenizer.json").write_text(text)
    assert parsing_of(tmp_path) == Parsing()
