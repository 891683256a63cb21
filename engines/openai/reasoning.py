"""Detects from rendered prompts whether a model on a server reasons, and can be switched.

It generates nothing, and sends nothing of the user's.
"""

from __future__ import annotations

from typing import Any, Final

from engines.dialect.formats import ANY_FORMAT
from engines.openai.body import prompt_body
from engines.openai.client import OpenAiClient
from engines.openai.values import ServerKind
from engines.types import ChatRequest, Message, Thinking

_QUESTION: Final = (Message("user", "Hello"),)
_END_TOKENS: Final = 8
"""Number of tokens at the end of a prompt that are searched for an open marker."""


def reasoning_of(client: OpenAiClient, model: str, kind: ServerKind) -> tuple[Thinking, bool]:
    """Return `LoadedModel.thinking` and `thinks`, or ("none", False) if they cannot be seen.

    A template with a switch renders two different prompts. A template that always reasons can open
    its reasoning at the end of the prompt.
    """
    on, off, plain = (_prompt(client, model, kind, thinking) for thinking in (True, False, None))
    if plain is None:
        return "none", False
    if on is not None and off is not None and on != off:
        return "switch", plain != off
    opens_reasoning = ANY_FORMAT.opened(_end_of(client, model, plain))
    return ("always", True) if opens_reasoning else ("none", False)


def _prompt(
    client: OpenAiClient, model: str, kind: ServerKind, thinking: bool | None
) -> str | list[int] | None:
    """Return a short prompt, as text from llama-server, and as tokens from other servers."""
    body = prompt_body(ChatRequest(_QUESTION, thinking=thinking), model, kind, _QUESTION)
    if kind != "llama-server":
        return client.tokenize(body)
    reply = client.post("/apply-template", body, required=False)
    prompt = reply.get("prompt") if isinstance(reply, dict) else None
    return prompt if isinstance(prompt, str) else None


def _end_of(client: OpenAiClient, model: str, prompt: str | list[int]) -> str:
    if isinstance(prompt, str):
        return prompt
    body: dict[str, Any] = {"model": model, "tokens": prompt[-_END_TOKENS:]}
    answer = client.post("/detokenize", body, required=False)
    text = answer.get("prompt") if isinstance(answer, dict) else None
    return text if isinstance(text, str) else ""
