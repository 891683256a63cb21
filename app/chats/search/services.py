"""Keeps the search index in step: a little before a search, all of it in the background."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from app.chats.search.store.search_index import SearchIndex
from engines.cancel import CancelToken

_RECENT = 500
"""The changes read before a search, so that what was just written is found."""


def catch_up(index: SearchIndex) -> None:
    """Index recent changes; if there are many, they are left to the background."""
    if 0 < index.behind().changes <= _RECENT:
        while index.behind().changes and index.step():
            pass


def steps(
    index: SearchIndex, cancel: CancelToken, rest: Callable[[float], None] = time.sleep
) -> Iterator[float]:
    """Index all there is; yields after each step the share of older texts that can be found.

    rest: is given the seconds that the step took. Resting as long lets others have the interpreter.
    """
    while not cancel.cancelled:
        began = time.monotonic()
        if not index.step():
            return
        yield index.behind().share
        rest(time.monotonic() - began)
