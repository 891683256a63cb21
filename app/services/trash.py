"""Deleted chats that nobody brought back are removed for good."""

from __future__ import annotations

from collections.abc import Callable

from app.store.chats import ChatStore


def empty_trash(chats: ChatStore, forget_states: Callable[[str], None], older_than_s: float) -> int:
    """Remove chats that were deleted longer ago than that, in seconds; returns how many.

    forget_states: removes what an engine has kept of a chat. It goes first, so that nothing of a
    chat is left where the process ends between the two.
    """
    gone = chats.deleted(older_than_s)
    for chat_id in gone:
        forget_states(chat_id)
        chats.purge(chat_id)
    return len(gone)
