"""How many tokens a prompt has on a server: exactly where it counts, otherwise a guess."""

from __future__ import annotations

from collections.abc import Sequence

from engines.openai.body import Body, prompt_body
from engines.openai.line import Connection
from engines.openai.via import Via
from engines.types import ChatRequest, Message


def count(
    request: ChatRequest, via: Via, messages: Sequence[Message], line: Connection | None = None
) -> int | None:
    """Tokens of the prompt for these messages; None where the server does not count."""
    if not via.tokenizes:
        return None
    body = countable(prompt_body(request, via.model, via.kind, messages))
    if via.kind == "llama-server":
        return _by_template(via, body, line)
    tokens = via.client.tokenize(body, line)
    return None if tokens is None else len(tokens)


def countable(body: Body) -> Body:
    """The part of a request that /tokenize and /apply-template know."""
    effort = body.pop("reasoning_effort", None)
    if effort is not None:
        body["chat_template_kwargs"] = {
            **body.get("chat_template_kwargs", {}),
            "reasoning_effort": effort,
        }
    return body


def _by_template(via: Via, body: Body, line: Connection | None) -> int | None:
    """llama-server writes the prompt, and then counts it as a text with its markers."""
    written = via.client.post("/apply-template", body, wanted=False, line=line)
    prompt = written.get("prompt") if isinstance(written, dict) else None
    if not isinstance(prompt, str):
        return None
    text = {"content": prompt, "add_special": True, "parse_special": True}
    tokens = via.client.tokenize(text, line)
    return None if tokens is None else len(tokens)
