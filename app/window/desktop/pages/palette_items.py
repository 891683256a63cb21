"""The items of the command palette: commands, chats, models and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from app.chats.search.values.fuzzy import fit, folded

if TYPE_CHECKING:
    from app.chats.history.values.chat import Chat

Kind = Literal["command", "chat", "model", "setting"]

_BEFORE = {"command": 3.0, "setting": 2.0, "model": 1.0, "chat": 0.0}
"""Added to the score, so that among equally good matches commands come first."""

_LESS = 100.0
"""Subtracted from the score of an item that matches only by its extra words."""


@dataclass(frozen=True)
class Item:
    """An item of the command palette.

    Attributes:
        title: The text that is searched and shown.
        detail: The item's shortcut or kind; screen readers read it after the title.
        run: Called when the user chooses the item.
        words: Further words that are searched.
        drawing: The icon; "" for that of its kind.
    """

    kind: Kind
    title: str
    detail: str
    run: Callable[[], object] = field(compare=False)
    words: str = ""
    drawing: str = ""
    title_key: str = field(init=False, compare=False)
    full_key: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "title_key", folded(self.title))
        object.__setattr__(self, "full_key", folded(f"{self.title} {self.words}"))

    def fit(self, typed: str) -> float | None:
        """Return the score of the title, or a lower one of all words; None if nothing matches.

        Args:
            typed: The text that the user typed, already `folded`.
        """
        by_title = fit(typed, self.title_key)
        if by_title is not None or not self.words:
            return by_title
        by_all_words = fit(typed, self.full_key)
        return None if by_all_words is None else by_all_words - _LESS


def best(typed: str, items: Iterable[Item], limit: int) -> list[Item]:
    """Return the best matches in order, or the first items as given if nothing was typed."""
    words = folded(typed)
    if not words.strip():
        return list(items)[:limit]
    scored = [(item.fit(words), item) for item in items]
    matches = [(score + _BEFORE[item.kind], item) for score, item in scored if score is not None]
    matches.sort(key=lambda pair: -pair[0])
    return [item for _, item in matches[:limit]]


def chats_in_steps(
    page: Callable[[int, int], Sequence[Chat]],
    item: Callable[[Chat], Item],
    step: int,
    limit: int,
) -> Iterator[list[Item]]:
    """Yield the chats a page at a time, the most recently used first: there can be very many."""
    for offset in range(0, limit, step):
        chats = page(offset, step)
        yield [item(chat) for chat in chats]
        if len(chats) < step:
            return
