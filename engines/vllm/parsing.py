"""Chooses how vLLM separates reasoning and tool calls from the answer, by the model's markers.

If the markers are special tokens, vLLM leaves them out of the text, and the reasoning would become
part of the answer. vLLM's own parsers see them, and so does Hearth if vLLM keeps them in the text.
Source: vLLM 0.33, vllm/parser, vllm/reasoning and config/reasoning.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engines.dialect.formats import (
    GEMMA,
    HARMONY,
    HERMES,
    MISTRAL,
    CallFormat,
    ReasoningFormat,
    call_format_of,
    format_of,
)
from engines.models.checkpoint import read_chat_template

_PARSERS: Final = ((GEMMA, "gemma4", "<|tool_call>"), (MISTRAL, "mistral", "[TOOL_CALLS]"))
"""Formats that vLLM parses, the parser's name, and the token that begins a tool call.

These two parsers begin in the answer, so an answer without reasoning stays an answer. The parsers
for <think> begin in the reasoning, and Hearth reads those markers itself, because they are text.
vLLM parses tool calls in every format that it knows: without a parser it takes no tools at all.
"""

_FREE: Final = {"gemma4", "minimax_m3", "muse_glimmer"}
"""Parsers whose model can answer without a call even if `tool_choice` requires one.

Source: vLLM 0.32, `supports_required_and_named` without a `structural_tag_model`.
"""


@dataclass(frozen=True)
class Parsing:
    """The choice of parsers for a model.

    Attributes:
        words: Arguments for the command line.
        keep_special_tokens: vLLM keeps special tokens in the text.
        budget: The length of the reasoning can be limited.
        tools: The model can be given tools.
    """

    words: tuple[str, ...] = ()
    keep_special_tokens: bool = False
    budget: bool = False
    tools: bool = False

    @property
    def forces_calls(self) -> bool:
        """True if vLLM forces a tool call where one is required."""
        return not _FREE & {*self.words}


def parsing_of(folder: Path) -> Parsing:
    """Choose the parsers for a checkpoint from its chat template and the tokens it adds."""
    tokens = dict(added_tokens(folder))
    template = read_chat_template(folder) or ""
    calls = _calls(call_format_of(template), tokens)
    format_, _ = format_of(template, tokens)
    if format_ is None or format_ is HARMONY:
        return Parsing(calls, tools=bool(calls))  # vLLM reads gpt-oss' channels by itself
    keep_special_tokens = any(tokens.get(token) for token in format_.tokens)
    for parsed_format, name, call in _PARSERS:
        if format_ is parsed_format and {*parsed_format.tokens, call} <= {*tokens}:
            words = ("--reasoning-parser", name, *_parser(name))
            return Parsing(words, keep_special_tokens=True, budget=True, tools=True)
    budget = not format_.prose
    return Parsing((*_limits(format_), *calls), keep_special_tokens, budget, tools=bool(calls))


def _calls(call_format: CallFormat | None, tokens: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the arguments for the tool call parser; none if the parser's tokens are missing."""
    if call_format is None or not call_format.vllm:
        return ()
    return (
        _parser(call_format.vllm)
        if call_format is HERMES or {*call_format.tokens} <= {*tokens}
        else ()
    )


def _parser(name: str) -> tuple[str, ...]:
    return ("--enable-auto-tool-choice", "--tool-call-parser", name)


def _limits(format_: ReasoningFormat) -> tuple[str, ...]:
    """Return the arguments that give vLLM the markers of reasoning, so that it can end it early."""
    if format_.prose:
        return ()
    ends = {"reasoning_start_str": format_.opens[0], "reasoning_end_str": format_.closes[0]}
    return ("--reasoning-config", json.dumps(ends))


def added_tokens(folder: Path) -> Iterator[tuple[str, bool]]:
    """Yield the added tokens of a vocabulary, and whether vLLM leaves each out of the text."""
    for row in _rows(folder / "tokenizer.json", "added_tokens"):
        yield str(row.get("content") or ""), bool(row.get("special"))
    for row in _rows(folder / "tekken.json", "special_tokens"):
        yield str(row.get("token_str") or ""), True


def _rows(file: Path, name: str) -> list[Mapping[str, Any]]:
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))[name] or []
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
