"""Which messages of a long chat are live: a run of them that moves as one scrolls."""

from __future__ import annotations

from typing import Literal

FIRST = 40
MOST = 60
"""How many messages are live in a chat that is opened, and in one that has grown."""
STEP = 2
"""How many are added in one turn of the event loop."""

Side = Literal["older", "newer"]


def side_to_grow(
    first: int, end: int, count: int, *, near_top: bool, near_bottom: bool
) -> Side | None:
    """Where messages are to be added to those from `first` up to, without it, `end`.

    First what is about to be seen, then as many as a chat opens with.
    """
    if near_top and first > 0:
        return "older"
    if near_bottom and end < count:
        return "newer"
    if end - first >= FIRST:
        return None
    if first > 0:
        return "older"
    return "newer" if end < count else None


def around(index: int, count: int) -> tuple[int, int]:
    """The few to begin with when one goes to a message: itself and some that follow."""
    end = min(count, index + 2 * STEP)
    return max(0, min(index, end - 2 * STEP)), end
