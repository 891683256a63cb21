"""Errors for prompts that do not fit the context, in the words that clients look for.

Clients then shorten the conversation by themselves or use another model. OpenAI's two APIs and
Anthropic's each have a sentence of their own. LiteLLM, LangChain and most agents look for the
sentence of chat completions or its code; Claude Code reads the two numbers in Anthropic's; Codex
expects the code in the last event of a stream.
"""

from __future__ import annotations

from typing import Final

from engines.errors import TooManyTokens

CODE: Final = "context_length_exceeded"
"""OpenAI's code for these errors."""


def openai_message(error: TooManyTokens) -> str:
    """Return the error in the words of OpenAI's chat completions, then in Anthropic's."""
    return f"{_limit(error)} {anthropic_message(error)}"


def responses_message(error: TooManyTokens) -> str:
    """Return the error in the words of OpenAI's responses."""
    return (
        "Your input exceeds the context window of this model. Please adjust your input and try "
        f"again. {openai_message(error)}"
    )


def anthropic_message(error: TooManyTokens) -> str:
    """Return the error in the words of Anthropic's messages.

    The limit in it leaves out the tokens that are kept for the answer.
    """
    if error.tokens is None or error.context is None:
        return f"prompt is too long: {error}"
    most = error.context - error.kept
    return f"prompt is too long: {error.tokens} tokens > {most} maximum. {error.do}"


def _limit(error: TooManyTokens) -> str:
    if error.context is None:
        return "This model's maximum context length is exceeded."
    if error.tokens is None:
        size = "your messages have more"
    else:
        least = "" if error.counted else "at least "
        size = (
            f"you requested {least}{error.tokens + error.kept} tokens ({error.tokens} in the "
            f"messages, {error.kept} in the completion)"
        )
    return (
        f"This model's maximum context length is {error.context} tokens. However, {size}. Please "
        "reduce the length of the messages or completion."
    )
