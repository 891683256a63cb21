"""Prompts that do not fit the context, told in the words that clients of each protocol look for.

They shorten the conversation by themselves then, or ask another model. OpenAI's two APIs and
Anthropic's have a sentence each. LiteLLM, LangChain and most agents look for that of chat
completions or its code; Claude Code reads the two numbers of Anthropic's; Codex wants the code in
the last event of a stream.
"""

from __future__ import annotations

from typing import Final

from engines.errors import TooManyTokens

CODE: Final = "context_length_exceeded"
"""OpenAI's code for them."""


def openai_words(error: TooManyTokens) -> str:
    """Write the error as OpenAI's chat completions have it, with Anthropic's sentence behind."""
    return f"{_limit(error)} {anthropic_words(error)}"


def responses_words(error: TooManyTokens) -> str:
    """Write the error as OpenAI's responses have it."""
    return (
        "Your input exceeds the context window of this model. Please adjust your input and try "
        f"again. {openai_words(error)}"
    )


def anthropic_words(error: TooManyTokens) -> str:
    """Write the error as Anthropic's messages have it. Its limit leaves room for the answer."""
    if error.tokens is None or error.context is None:
        return f"prompt is too long: {error}"
    most = error.context - error.kept
    return f"prompt is too long: {error.tokens} tokens > {most} maximum. {error.do}"


def _limit(error: TooManyTokens) -> str:
    if error.context is None:
        return "This model's maximum context length is exceeded."
    if error.tokens is None:
        told = "your messages have more"
    else:
        least = "" if error.counted else "at least "
        told = (
            f"you requested {least}{error.tokens + error.kept} tokens ({error.tokens} in the "
            f"messages, {error.kept} in the completion)"
        )
    return (
        f"This model's maximum context length is {error.context} tokens. However, {told}. Please "
        "reduce the length of the messages or completion."
    )
