"""What is said where a conversation does not fit the context, in the three parts of an error."""

from __future__ import annotations

from engines.errors import ContextFull, EngineError, MessageTooLong


def full(tokens: int, kept: int, context: int) -> ContextFull:
    """The conversation does not fit as a whole, and nothing of it may be left out.

    tokens: of the prompt. kept: room for the answer. context: of the loaded model.
    """
    return ContextFull(
        "This chat does not fit the context any more.",
        f"With this message it takes {tokens:,} tokens. The context has {context:,}, of which"
        f" {kept:,} are kept for the answer.",
        "Shorten the message, choose a larger context, or let the oldest messages be left out or"
        " summed up.",
    )


def too_long(tokens: int, pinned: int, context: int) -> EngineError:
    """Not even the last message fits, with what has to stay beside it.

    pinned: tokens of the pinned turns among those of the prompt.
    """
    if pinned and tokens - pinned < context:
        return ContextFull(
            "The pinned messages leave no room for this one.",
            f"They take {pinned:,} of the {context:,} tokens that the context has, and always"
            " stay in it.",
            "Unpin some of them, or choose a larger context.",
        )
    return MessageTooLong(
        "This message is too long for the model.",
        f"With the system prompt it takes {tokens:,} tokens, and the context has {context:,}.",
        "Shorten it, or load the model with a larger context.",
    )
