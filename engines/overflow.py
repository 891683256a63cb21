"""Errors for conversations that do not fit the context."""

from __future__ import annotations

from engines.errors import ContextFull, EngineError, MessageTooLong
from engines.sentences import N_


def full(tokens: int, kept: int, context: int, *, counted: bool = True) -> ContextFull:
    """Make the error for a conversation that does not fit the context when no turn may be left out.

    Args:
        tokens: Tokens of the prompt; a lower bound if `counted` is False.
        kept: Tokens reserved for the answer.
        context: Tokens of the loaded model's context.
    """
    return ContextFull(
        N_("This chat no longer fits the context."),
        N_(
            "With this message it takes {tokens} tokens. The context has {context}, of which "
            "{kept} are reserved for the answer.",
            tokens=f"{tokens:,}",
            context=f"{context:,}",
            kept=f"{kept:,}",
        )
        if counted
        else N_(
            "With this message it takes at least {tokens} tokens. The context has {context}, of "
            "which {kept} are reserved for the answer.",
            tokens=f"{tokens:,}",
            context=f"{context:,}",
            kept=f"{kept:,}",
        ),
        N_(
            "Shorten the message, choose a larger context, or let the oldest messages be "
            "left out or summarised."
        ),
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
            N_("The pinned messages leave no room for this one."),
            N_(
                "They take {pinned} of the {context} tokens that the context has, and always "
                "stay in "
                "it.",
                pinned=f"{pinned:,}",
                context=f"{context:,}",
            ),
            N_("Unpin some of them, or choose a larger context."),
            tokens=tokens,
            context=context,
            counted=counted,
        )
    return MessageTooLong(
        N_("This message is too long for the model."),
        N_(
            "With the system prompt it takes {tokens} tokens, and the context has {context}.",
            tokens=f"{tokens:,}",
            context=f"{context:,}",
        )
        if counted
        else N_(
            "With the system prompt it takes at least {tokens} tokens, and the context has "
            "{context}.",
            tokens=f"{tokens:,}",
            context=f"{context:,}",
        ),
        N_("Shorten it, or load the model with a larger context."),
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
        N_("The prompt is too long for the model."),
        N_(
            "It takes {tokens} tokens, and the context has {context}.",
            tokens=f"{tokens:,}",
            context=f"{context:,}",
        )
        if counted
        else N_(
            "It takes at least {tokens} tokens, and the context has {context}.",
            tokens=f"{tokens:,}",
            context=f"{context:,}",
        ),
        N_("Shorten the prompt, or choose a larger context."),
        tokens=tokens,
        context=context,
        counted=counted,
    )
