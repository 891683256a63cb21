"""Which program a text of JSON comes from, by what it holds, and the chats in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from app.core.exchange import chatgpt, jan, lm_studio, open_webui, own
from app.core.exchange.found import Broken, Found, FoundChat, NotRead, ReadyChat
from app.core.exchange.plain import (
    TooLarge,
    as_dict,
    as_list,
    as_text,
    each_item,
    from_json,
    torn_items,
)
from app.core.exchange.thread import ready

_LOOKED_AT = 20
"""Elements of a list by which its program is told."""


@dataclass(frozen=True)
class _Format:
    source: str
    is_ours: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], FoundChat | ReadyChat]


_FORMATS = (
    _Format(own.SOURCE, own.is_ours, own.read),
    _Format(chatgpt.SOURCE, chatgpt.is_ours, chatgpt.read),
    _Format(open_webui.SOURCE, open_webui.is_ours, open_webui.read),
    _Format(lm_studio.SOURCE, lm_studio.is_ours, lm_studio.read),
)
_LISTS = ("chats", "conversations")
"""Names under which an object may hold the list of chats."""
_THREAD = ('"assistants"', '"thread"')
"""One of which a thread of Jan holds; the others need not be read twice."""
WHOLE_FILE = ("The file", "The end of the file")
"""What is named where it is not a chat that could not be read."""
TORN = "The file breaks off; what comes before that was read."
TOO_LARGE = "It would take more memory than Hearth gives an import."
DAMAGED = "It is damaged or breaks off, and no whole chat is left in it."


def chats_in(text: str) -> tuple[str, Found]:
    """The program that a text comes from, and its chats; "" and none if it is not known."""
    try:
        whole, items = _items(text)
    except TooLarge:
        return _of_large(text)
    ours = _format_of(items)
    if ours is None:
        return "", iter(() if whole else (NotRead(WHOLE_FILE[0], DAMAGED),))
    return ours.source, _read(ours, items, whole)


def thread_in(text: str) -> Mapping[str, Any] | None:
    """A thread of Jan, without its messages; None for anything else."""
    if not any(name in text for name in _THREAD):
        return None
    try:
        value = from_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and jan.is_thread(value) else None


def read_each(items: Iterable[Any], read: Callable[[Any], FoundChat | ReadyChat]) -> Found:
    """A chat that cannot be read stops none of the others."""
    for number, item in enumerate(items, 1):
        try:
            found = read(item)
            yield found if isinstance(found, ReadyChat) else ready(found)
        except Broken as error:
            yield NotRead(_name(item, number), str(error))


def _items(text: str) -> tuple[bool, list[Any]]:
    """Whether the text is whole, and what may be chats in it."""
    try:
        value = from_json(text)
    except TooLarge:
        raise
    except ValueError:
        return False, list(torn_items(text))
    if isinstance(value, list):
        return True, value
    inside = (as_list(as_dict(value).get(name)) for name in _LISTS)
    return True, next(filter(None, inside), [value])


def _of_large(text: str) -> tuple[str, Found]:
    """The same for a text that would not fit into memory as a whole: a list's chats one by one."""
    items = each_item(text)
    try:
        first = list(islice(items, _LOOKED_AT))
    except ValueError:
        first = []
    ours = _format_of(first)
    if ours is None:
        return "", iter((NotRead(WHOLE_FILE[0], TOO_LARGE),))
    return ours.source, _read_large(ours, chain(first, items))


def _read_large(ours: _Format, items: Iterator[Any]) -> Iterator[ReadyChat | NotRead]:
    try:
        yield from _read(ours, items, whole=True)
    except ValueError:
        yield NotRead(WHOLE_FILE[1], TORN)


def _format_of(items: Sequence[Any]) -> _Format | None:
    looked_at = [it for it in islice(items, _LOOKED_AT) if isinstance(it, dict)]
    return next(
        (ours for ours in _FORMATS if any(ours.is_ours(it) for it in looked_at)),
        None,
    )


def _read(ours: _Format, items: Iterable[Any], whole: bool) -> Iterator[ReadyChat | NotRead]:
    def read(item: Any) -> FoundChat | ReadyChat:
        if isinstance(item, TooLarge):
            raise Broken(TOO_LARGE)
        if not isinstance(item, dict) or not ours.is_ours(item):
            raise Broken(f"It is no chat of {ours.source}.")
        return ours.read(item)

    yield from read_each(items, read)
    if not whole:
        yield NotRead(WHOLE_FILE[1], TORN)


def _name(item: object, number: int) -> str:
    value = as_dict(item)
    title = as_text(value.get("title")) or as_text(value.get("name"))
    return f"“{title[:80]}”" if title else f"Chat {number}"
