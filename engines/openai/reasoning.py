"""Finds out whether a model on a server reasons, and can be switched, by the prompts it writes.

Nothing is generated for it, and nothing of the user's is sent.
"""

from __future__ import annotations

from typing import Any, Final

from engines.dialect.formats import ANY_FORMAT
from engines.openai.body import prompt_body
from engines.openai.client import OpenAiClient
from engines.openai.values import ServerKind
from engines.types import ChatRequest, Message, Thinking

_QUESTION: Final = (Message("user", "Hello"),)
_LAST: Final = 8
"""Tokens at a prompt's end among which an opened marker is looked for."""


def reasoning_of(client: OpenAiClient, model: str, kind: ServerKind) -> tuple[Thinking, bool]:
    """Return `LoadedModel.thinking` and `thinks`; ("none", False) where it cannot be seen.

    A template that knows a switch writes two prompts; one that always reasons may end within it.
    """
    on, off, plain = (_prompt(client, model, kind, it) for it in (True, False, None))
    if plain is None:
        return "none", False
    if on is not None and off is not None and on != off:
        return "switch", plain != off
    always = ANY_FORMAT.opened(_ending(client, model, plain))
    return ("always", True) if always else ("none", False)


def _prompt(
    client: OpenAiClient, model: str, kind: ServerKind, thinking: bool | None
) -> str | list[int] | None:
    """Return a short prompt: its text from llama-server, its tokens from others."""
    body = prompt_body(ChatRequest(_QUESTION, thinking=thinking), model, kind, _QUESTION)
    if kind != "llama-server":
        return client.tokenize(body)
    written = client.post("/apply-template", body, wanted=False)
    prompt = written.get("prompt") if isinstance(written, dict) else None
    return prompt if isinstance(prompt, str) else None


def _ending(client: OpenAiClient, model: str, prompt: str | list[int]) -> str:
    if isinstance(prompt, str):
        return prompt
    body: dict[str, Any] = {"model": model, "tokens": prompt[-_LAST:]}
    found = client.post("/detokenize", body, wanted=False)
    text = found.get("prompt") if isinstance(found, dict) else None
    return text if isinstance(text, str) else ""
