"""Reads the log probabilities of a streamed answer's tokens, in either form that servers use.

Sources: OpenAI's API reference, "The chat completion chunk object" and the older "Completion
object"; llama-server's README for the id of a token.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from engines.types import ReasoningDelta, TextDelta, TokenLogprob

_UNKNOWN: Final = -1
"""Stands for a token id that the server does not report."""

_LEAST: Final = -9999.0
"""Value in OpenAI's API for a token that is not likely at all."""


def logprobs_in(choice: Mapping[str, Any]) -> list[TokenLogprob]:
    """Read the tokens of a piece of an answer; skip malformed ones."""
    told = choice.get("logprobs")
    if not isinstance(told, dict):
        return []
    content = told.get("content")
    if isinstance(content, list):
        return [found for it in content if (found := _token(it)) is not None]
    tokens, logprobs = told.get("tokens"), told.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(logprobs, list):
        return []
    tops = told.get("top_logprobs")
    rows: Sequence[Any] = tops if isinstance(tops, list) else [None] * len(tokens)
    return [
        TokenLogprob(
            _UNKNOWN,
            text,
            text.encode(errors="replace"),
            math.nan if logprob is None else _number(logprob),
            _likeliest(top),
        )
        for text, logprob, top in zip(tokens, logprobs, rows, strict=False)
        if isinstance(text, str)
    ]


def _token(told: Any) -> TokenLogprob | None:
    text = told.get("token") if isinstance(told, dict) else None
    if not isinstance(text, str):
        return None
    number, raw, likeliest = told.get("id"), told.get("bytes"), told.get("top_logprobs")
    whole = isinstance(raw, list) and all(isinstance(it, int) and 0 <= it < 256 for it in raw)
    return TokenLogprob(
        number if isinstance(number, int) else _UNKNOWN,
        text,
        bytes(raw) if whole and isinstance(raw, list) else text.encode(errors="replace"),
        _number(told.get("logprob")),
        tuple(
            found
            for it in (likeliest if isinstance(likeliest, list) else ())
            if (found := _token(it)) is not None
        ),
    )


def _likeliest(told: Any) -> tuple[TokenLogprob, ...]:
    if not isinstance(told, dict):
        return ()
    likeliest = sorted(
        ((text, _number(logprob)) for text, logprob in told.items()), key=lambda it: -it[1]
    )
    return tuple(
        TokenLogprob(_UNKNOWN, text, text.encode(errors="replace"), logprob)
        for text, logprob in likeliest
    )


def _number(value: Any) -> float:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if usable and math.isfinite(value) else _LEAST


class ServerLogprobs:
    """Attaches tokens to the texts in which they ended.

    Texts that were changed on the way get none: if a secret was removed from a text, its tokens
    would still spell it.
    """

    def __init__(self) -> None:
        self._waiting: list[TokenLogprob] = []
        self._said = self._shown = ""

    def told(self, tokens: Sequence[TokenLogprob]) -> None:
        """Add the tokens of a piece."""
        self._waiting += tokens

    def said(self, text: str) -> None:
        """Add a text as the server sent it."""
        if self._waiting:
            self._said += text

    def attached(self, events: Sequence[Any]) -> list[Any]:
        """Return a piece's events, with the tokens so far attached to the last text among them."""
        found = list(events)
        if not self._waiting:
            return found
        if any(isinstance(it, ReasoningDelta) for it in found):
            self._forget()
        last = max((at for at, it in enumerate(found) if isinstance(it, TextDelta)), default=None)
        self._shown += "".join(it.text for it in found if isinstance(it, TextDelta))
        if not self._said.startswith(self._shown):
            self._forget()
        elif last is not None and self._shown == self._said:
            found[last] = replace(found[last], logprobs=tuple(self._waiting))
            self._forget()
        return found

    def _forget(self) -> None:
        self._waiting.clear()
        self._said = self._shown = ""
