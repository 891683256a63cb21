"""Errors for conversations that do not fit the context."""

from __future__ import annotations

from engines.errors import ContextFull, EngineError, MessageTooLong


def full(tokens: int, kept: int, context: int, *, counted: bool = True) -> ContextFull:
    """Make the error for a conversation that does not fit the context when no turn may be left out.

    Args:
        tokens: Tokens of the prompt; a lower bound if `counted` is False.
        kept: Tokens reserved for the answer.
        context: Tokens of the loaded model's context.
    """
    return ContextFull(
        "This chat no longer fits the context.",
        f"With this message it takes {tokens:,} tokens. The context has {context:,}, of "
        f"which {kept:,} are reserved for the answer."
        if counted
        else f"With this message it takes at least {tokens:,} tokens. The context has {context:,},"
        f" of which {kept:,} are reserved for the answer.",
        "Shorten the message, choose a larger context, or let the oldest messages be "
        "left out or summarised.",
        tokens=tokens,
        context=context,
        kept=kept,
        counted=counted,
    )


def too_long(tokens: int, pinned: int, context: int, *, counted: bool = True) -> EngineError:
    """Make the error for a last message that does not fit with the messages that must stay.

    Args:
        tokens: Tokens of the prompt; a lower bound if `counted` is False.
        pinned: Tokens of the pinned turns among them.
        context: Tokens of the loaded model's context.
    """
    if pinned and tokens - pinned < context:
        return ContextFull(
            "The pinned messages leave no room for this one.",
            f"They take {pinned:,} of the {context:,} tokens that the context has, and always"
            " stay in it.",
            "Unpin some of them, or choose a larger context.",
            tokens=tokens,
            context=context,
            counted=counted,
        )
    return MessageTooLong(
        "This message is too long for the model.",
        f"With the system prompt it takes {tokens:,} tokens, and the context has {context:,}."
        if counted
        else f"With the system prompt it takes at least {tokens:,} tokens, and the context has"
        f" {context:,}.",
        "Shorten it, or load the model with a larger context.",
        tokens=tokens,
        context=context,
        counted=counted,
    )


def prompt_too_long(tokens: int, context: int, *, counted: bool = True) -> MessageTooLong:
    """Make the error for a prompt without a chat template that does not fit.

    Args:
        tokens: Tokens of the prompt; a lower bound if `counted` is False.
        context: Tokens of the loaded model's context.
    """
    return MessageTooLong(
        "The prompt is too long for the model.",
        f"It takes {tokens:,} tokens, and the context has {context:,}."
        if counted
        else f"It takes at least {tokens:,} tokens, and the context has {context:,}.",
        "Shorten the prompt, or choose a larger context.",
        tokens=tokens,
        context=context,
        counted=counted,
    )
