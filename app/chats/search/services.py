"""Keeps the search index up to date: recent changes before a search, the rest in the background."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from app.chats.search.store.search_index import SearchIndex
from engines.cancel import CancelToken

_RECENT = 500
"""How many changes are indexed before a search, so that recent writing is found."""


def catch_up(index: SearchIndex) -> None:
    """Index recent changes; if there are many, leave them to the background."""
    if 0 < index.backlog().changes <= _RECENT:
        while index.backlog().changes and index.step():
            pass


def steps(
    index: SearchIndex, cancel: CancelToken, rest: Callable[[float], None] = time.sleep
) -> Iterator[float]:
    """Index everything; after each step, yield the share of older texts that can be found.

    Args:
        rest: Called with the seconds that the step took. Sleeping as long lets other threads have
            the interpreter.
    """
    while not cancel.cancelled:
        began = time.monotonic()
        if not index.step():
            return
        yield index.backlog().share
        rest(time.monotonic() - began)
