"""The trash: its chats lose their saved KV cache, and are removed for good later or on demand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from app.chats.history.store.chats import ChatStore


def see_today(chats: ChatStore) -> None:
    """Count today for everything in the trash, unless it is counted already."""
    chats.count_day(time.strftime("%Y-%m-%d", time.localtime(time.time())))


def empty_trash(chats: ChatStore, forget_states: Callable[[str], None], days: int) -> int:
    """Remove chats that have been in the trash for `days` days, and return how many.

    Args:
        forget_states: Removes the saved KV cache of a chat. It is called for every deleted chat,
            because a restored chat can be processed again, and before any chat is removed, so that
            nothing of a chat is left if the process ends in between.
    """
    for chat_id in chats.deleted():
        forget_states(chat_id)
    chat_ids = chats.deleted(days)
    for chat_id in chat_ids:
        chats.purge(chat_id)
    return len(chat_ids)


def remove_for_good(
    chats: ChatStore,
    forget_states: Callable[[str], None],
    forget_files: Callable[[], None],
    chat_ids: Iterable[str],
) -> None:
    """Remove those of the chats that are in the trash, one at a time so that no writer waits long.

    Args:
        forget_states: Removes the saved KV cache of a chat.
        forget_files: Removes the copies of files that no chat uses any more.
    """
    deleted = set(chats.deleted())
    for chat_id in chat_ids:
        if chat_id in deleted:
            forget_states(chat_id)
            chats.purge(chat_id)
    forget_files()
