"""Chooses how vLLM tells reasoning and tool calls from the answer, by the model's own markers.

Where markers are special tokens vLLM leaves them out of the text, and the reasoning would be part
of the answer. Its parsers see them; so does Hearth where they are kept.
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
"""The formats that a parser of vLLM's is used for, its name, and its token before a tool call.

Both begin in the answer, so that one without reasoning stays an answer; the parsers for <think>
begin in the reasoning, and those markers are text that Hearth reads itself. Calls are read by vLLM
wherever it knows their format: without a parser it takes no tools at all."""

_FREE: Final = {"gemma4", "minimax_m3", "muse_glimmer"}
"""Parsers whose model may answer without a call, though `tool_choice` says that it has to make one.

Source: vLLM 0.32, `supports_required_and_named` without a `structural_tag_model`."""


@dataclass(frozen=True)
class Parsing:
    """words: for the command line. special: the text keeps its special tokens.

    budget: the reasoning can be limited. tools: it takes tools.
    """

    words: tuple[str, ...] = ()
    special: bool = False
    budget: bool = False
    tools: bool = False

    @property
    def holds_calls(self) -> bool:
        """Whether vLLM holds the model to a call where it has to make one."""
        return not _FREE & {*self.words}


def parsing_of(folder: Path) -> Parsing:
    """Choose for a checkpoint, by its chat template and the tokens of its own vocabulary."""
    tokens = dict(added_tokens(folder))
    template = read_chat_template(folder) or ""
    calls = _calls(call_format_of(template), tokens)
    format_, _ = format_of(template, tokens)
    if format_ is None or format_ is HARMONY:
        return Parsing(calls, tools=bool(calls))  # vLLM reads gpt-oss' channels by itself
    special = any(tokens.get(it) for it in format_.tokens)
    for known, name, call in _PARSERS:
        if format_ is known and {*known.tokens, call} <= {*tokens}:
            words = ("--reasoning-parser", name, *_parser(name))
            return Parsing(words, special=True, budget=True, tools=True)
    budget = not format_.prose
    return Parsing((*_limits(format_), *calls), special, budget, tools=bool(calls))


def _calls(form: CallFormat | None, tokens: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the words for the parser of calls, none where it could not find its tokens."""
    if form is None or not form.vllm:
        return ()
    return _parser(form.vllm) if form is HERMES or {*form.tokens} <= {*tokens} else ()


def _parser(name: str) -> tuple[str, ...]:
    return ("--enable-auto-tool-choice", "--tool-call-parser", name)


def _limits(format_: ReasoningFormat) -> tuple[str, ...]:
    """Tell vLLM what reasoning stands between, so that it can end it."""
    if format_.prose:
        return ()
    ends = {"reasoning_start_str": format_.opens[0], "reasoning_end_str": format_.closes[0]}
    return ("--reasoning-config", json.dumps(ends))


def added_tokens(folder: Path) -> Iterator[tuple[str, bool]]:
    """List the tokens that a vocabulary names apart, and whether vLLM leaves them out of text."""
    for it in _rows(folder / "tokenizer.json", "added_tokens"):
        yield str(it.get("content") or ""), bool(it.get("special"))
    for it in _rows(folder / "tekken.json", "special_tokens"):
        yield str(it.get("token_str") or ""), True


def _rows(file: Path, name: str) -> list[Mapping[str, Any]]:
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))[name] or []
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []
    return [it for it in rows if isinstance(it, dict)] if isinstance(rows, list) else []
