"""Texts about a chat's context: numbers, sentences, and the texts of a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.kit.look.format import figure

if TYPE_CHECKING:
    from app.chats.context.values.budget import ContextUse
    from app.chats.history.values.conversation import OverflowPolicy

_tr = QCoreApplication.translate
_LARGE = 10_000


def short(tokens: int) -> str:
    """Format a number of tokens in few characters, such as 8,192 and 32k."""
    return figure(tokens) if tokens < _LARGE else f"{figure(tokens / 1000)}k"


def meter(use: ContextUse) -> str:
    """Return how much of the context is used, in short numbers."""
    if not use.context:
        words = (
            _tr("context", "{total} tokens")
            if use.exact
            else _tr("context", "about {total} tokens")
        )
        return words.format(total=short(use.total))
    words = (
        _tr("context", "{total} of {context}")
        if use.exact
        else _tr("context", "about {total} of {context}")
    )
    return words.format(total=short(use.total), context=short(use.context))


def percent(use: ContextUse) -> str:
    """Return how full the context is, in per cent; "" if its size is not known."""
    if not use.context:
        return ""
    return _tr("context", "{percent} % full.").format(
        percent=round(100 * use.total / max(1, use.room))
    )


def full_sentence(use: ContextUse) -> str:
    """Return the use in full sentences."""
    if not use.context:
        words = _tr("context", "The next message takes {amount}.").format(amount=used_tokens(use))
        return f"{words} {outcome(use)}"
    words = (
        _tr("context", "The next message takes {total} of {context} tokens.")
        if use.exact
        else _tr("context", "The next message takes about {total} of {context} tokens.")
    )
    return f"{words.format(total=figure(use.total), context=figure(use.context))} {outcome(use)}"


def used_tokens(use: ContextUse) -> str:
    """Return the tokens used, and the context's size if known, in full numbers."""
    if not use.context:
        return meter(use)
    words = (
        _tr("context", "{total} of {context} tokens")
        if use.exact
        else _tr("context", "about {total} of {context} tokens")
    )
    return words.format(total=figure(use.total), context=figure(use.context))


def outcome(use: ContextUse) -> str:
    """Return a sentence that says whether the next message fits, and the consequence if not."""
    if use.fits:
        words = (
            _tr("context", "Everything fits, with room for about {room} more tokens.")
            if use.context
            else _tr("context", "The server does not say how large its context is.")
        )
        return words.format(room=figure(use.room - use.total))
    if not use.possible:
        return problem(use)[1]
    if use.policy == "compact":
        return _tr("context", "The oldest messages will be summarised first.")
    count = len(use.left)
    if count == 0:
        return _tr("context", "Little room is left for an answer.")
    if count == 1:
        return _tr("context", "The oldest message does not fit and is left out.")
    return _tr("context", "The {count} oldest messages do not fit and are left out.").format(
        count=count
    )


def problem(use: ContextUse) -> tuple[str, str]:
    """Return the headline and the reason of a warning before a message is sent."""
    total, room = figure(use.total), figure(use.room)
    if use.prompt >= use.context and use.pinned and use.prompt - use.pinned < use.context:
        return (
            _tr("context", "The pinned messages leave no room for this one"),
            _tr(
                "context", "They take {pinned} of {context} tokens, and always stay in the context."
            ).format(pinned=figure(use.pinned), context=figure(use.context)),
        )
    if use.prompt >= use.context:
        return (
            _tr("context", "This message is too long for the context"),
            _tr(
                "context", "Even without the older ones it takes {prompt} of {context} tokens."
            ).format(prompt=figure(use.prompt), context=figure(use.context)),
        )
    if use.policy == "stop":
        return (
            _tr("context", "This message no longer fits"),
            _tr(
                "context",
                "With this message, the chat takes {total} tokens, but there is room for only "
                "{room}. This chat is set to stop instead of leaving messages out.",
            ).format(total=total, room=room),
        )
    return (
        _tr("context", "Older messages will be left out"),
        _tr(
            "context",
            "With this message, the chat takes {total} tokens, but there is room for only "
            "{room}. The model will no longer see the oldest messages.",
        ).format(total=total, room=room),
    )


def policies() -> tuple[tuple[OverflowPolicy, str, str], ...]:
    """Return the policies for a full context: key, short name and explanation of each."""
    return (
        (
            "leave_out",
            _tr("context", "Leave out"),
            _tr("context", "The oldest messages are left out; the model does not see them."),
        ),
        (
            "compact",
            _tr("context", "Summarise"),
            _tr("context", "The model summarises the oldest messages and goes on from there."),
        ),
        (
            "stop",
            _tr("context", "Stop"),
            _tr("context", "Nothing is left out. A message that does not fit is not sent."),
        ),
    )
