"""Sorting chats by how long ago they were last used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby
from typing import Literal

from app.core.conversation import Chat

Group = Literal["today", "yesterday", "week", "earlier"]


def grouped(chats: Iterable[Chat], now: datetime) -> Iterator[tuple[Group, list[Chat]]]:
    """Chats that come newest first, in groups by the local day. now: in local time."""
    for group, members in groupby(chats, lambda chat: group_of(chat.updated, now)):
        yield group, list(members)


def group_of(updated: float, now: datetime) -> Group:
    """updated: in seconds since 1970, UTC."""
    day = datetime.fromtimestamp(updated).astimezone(now.tzinfo).date()
    today = now.date()
    if day >= today:
        return "today"
    if day == today - timedelta(days=1):
        return "yesterday"
    return "week" if day > today - timedelta(days=7) else "earlier"
