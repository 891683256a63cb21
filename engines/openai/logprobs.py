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
    fields = choice.get("logprobs")
    if not isinstance(fields, dict):
        return []
    content = fields.get("content")
    if isinstance(content, list):
        return [token for entry in content if (token := _token(entry)) is not None]
    tokens, logprobs = fields.get("tokens"), fields.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(logprobs, list):
        return []
    tops = fields.get("top_logprobs")
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


def _token(fields: Any) -> TokenLogprob | None:
    text = fields.get("token") if isinstance(fields, dict) else None
    if not isinstance(text, str):
        return None
    number, raw, likeliest = fields.get("id"), fields.get("bytes"), fields.get("top_logprobs")
    is_bytes = isinstance(raw, list) and all(
        isinstance(byte, int) and 0 <= byte < 256 for byte in raw
    )
    return TokenLogprob(
        number if isinstance(number, int) else _UNKNOWN,
        text,
        bytes(raw) if is_bytes and isinstance(raw, list) else text.encode(errors="replace"),
        _number(fields.get("logprob")),
        tuple(
            token
            for entry in (likeliest if isinstance(likeliest, list) else ())
            if (token := _token(entry)) is not None
        ),
    )


def _likeliest(fields: Any) -> tuple[TokenLogprob, ...]:
    if not isinstance(fields, dict):
        return ()
    likeliest = sorted(
        ((text, _number(logprob)) for text, logprob in fields.items()), key=lambda pair: -pair[1]
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
        self._pending: list[TokenLogprob] = []
        self._sent = self._shown = ""

    def add_tokens(self, tokens: Sequence[TokenLogprob]) -> None:
        """Add the tokens of a piece."""
        self._pending += tokens

    def add_text(self, text: str) -> None:
        """Add a text as the server sent it."""
        if self._pending:
            self._sent += text

    def attach(self, events: Sequence[Any]) -> list[Any]:
        """Return a piece's events, with the tokens so far attached to the last text among them."""
        events = list(events)
        if not self._pending:
            return events
        if any(isinstance(event, ReasoningDelta) for event in events):
            self._reset()
        last = max(
            (index for index, event in enumerate(events) if isinstance(event, TextDelta)),
            default=None,
        )
        self._shown += "".join(event.text for event in events if isinstance(event, TextDelta))
        if not self._sent.startswith(self._shown):
            self._reset()
        elif last is not None and self._shown == self._sent:
            events[last] = replace(events[last], logprobs=tuple(self._pending))
            self._reset()
        return events

    def _reset(self) -> None:
        self._pending.clear()
        self._sent = self._shown = ""
