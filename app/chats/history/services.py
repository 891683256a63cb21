"""The trash: chats in it lose their KV states, and are removed for good later or on demand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from app.chats.history.store.chats import ChatStore


def see_today(chats: ChatStore) -> None:
    """Count this day for what lies in the trash, if it is not counted yet."""
    chats.see_day(time.strftime("%Y-%m-%d", time.localtime(time.time())))


def empty_trash(chats: ChatStore, forget_states: Callable[[str], None], days: int) -> int:
    """Remove chats that have lain in the trash for so many days; returns how many.

    forget_states: removes what an engine has kept of a chat; for every deleted one, as a chat
    that is brought back can be read again. It goes first, so that nothing of a chat is left where
    the process ends between the two.
    """
    for chat_id in chats.deleted():
        forget_states(chat_id)
    gone = chats.deleted(days)
    for chat_id in gone:
        chats.purge(chat_id)
    return len(gone)


def remove_for_good(
    chats: ChatStore,
    forget_states: Callable[[str], None],
    forget_files: Callable[[], None],
    chat_ids: Iterable[str],
) -> None:
    """Remove those chats that are in the trash, one at a time, so that no writer waits long.

    forget_files: removes the copies of files that no chat has any more.
    """
    deleted = set(chats.deleted())
    for chat_id in chat_ids:
        if chat_id in deleted:
            forget_states(chat_id)
            chats.purge(chat_id)
    forget_files()
