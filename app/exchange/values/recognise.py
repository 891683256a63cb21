"""Recognises by its content which program a JSON text comes from, and reads its chats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from app.exchange.values import chatgpt, jan, lm_studio, open_webui, own
from app.exchange.values.found import Broken, FoundChat, FoundChats, NotRead, ReadyChat
from app.exchange.values.json_values import (
    TooLarge,
    as_dict,
    as_list,
    as_text,
    each_item,
    from_json,
    torn_items,
)
from app.exchange.values.thread import convert
from engines.sentences import N_

_EXAMINED = 20
"""Elements of a list checked to recognise its program."""


@dataclass(frozen=True)
class _Format:
    """The format of a program's exports.

    Attributes:
        source: The program's name.
        marks: Names near the beginning of its exports that hardly occur in other files.
    """

    source: str
    marks: tuple[bytes, ...]
    is_chat: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], FoundChat | ReadyChat]


_FORMATS = (
    _Format(own.SOURCE, (b'"leaf_id"',), own.is_chat, own.read),
    _Format(chatgpt.SOURCE, (b'"mapping"',), chatgpt.is_chat, chatgpt.read),
    _Format(
        open_webui.SOURCE,
        (b'"currentId"', b'"childrenIds"'),
        open_webui.is_chat,
        open_webui.read,
    ),
    _Format(lm_studio.SOURCE, (b'"currentlySelected"',), lm_studio.is_chat, lm_studio.read),
)
PROGRAMS = ("ChatGPT", N_("LM Studio"), "Jan", "GPT4All", N_("Open WebUI"), "Ollama", "Hearth")
"""The programs whose chats can be read, under their usual names."""
_LISTS = ("chats", "conversations")
"""Keys under which an object can contain the list of chats."""
MARKS = (
    *chain.from_iterable(file_format.marks for file_format in _FORMATS),
    b'"thread_id"',
    b'"assistants"',
)
"""The marks of every format; the last two are Jan's, whose chats are folders."""
_THREAD = ('"assistants"', '"thread"')
"""Every thread of Jan has one of these; other texts need not be parsed twice."""
WHOLE_FILE = (N_("The file"), N_("The end of the file"))
"""Names in reports of unread parts that are not a chat."""
TORN = N_("The file ends too early; the part before that was read.")
TOO_LARGE = N_("Importing it would take too much memory.")
NO_CHATS = N_("It contains no chats that Hearth can read.")
NO_FILE = N_("It is neither a file nor a folder.")
LINK = N_("It is a link.")
EMPTY = N_("It is empty.")
ZEROS = N_("It is damaged: it begins with zeros.")
ARCHIVE = N_("It is an archive; import it by itself.")
DAMAGED = N_("It is damaged or incomplete, and has no complete chat.")


def chats_in(text: str) -> tuple[str, FoundChats]:
    """Return the program that a text comes from, and its chats; "" and none if unknown."""
    try:
        whole, items = _items(text)
    except TooLarge:
        return _of_large(text)
    chat_format = _format_of(items)
    if chat_format is None:
        return "", iter(() if whole else (NotRead(WHOLE_FILE[0], DAMAGED),))
    return chat_format.source, _read(chat_format, items, whole)


def thread_in(text: str) -> Mapping[str, Any] | None:
    """Read a thread of Jan without its messages; return None for anything else."""
    if not any(name in text for name in _THREAD):
        return None
    try:
        value = from_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and jan.is_thread(value) else None


def read_each(items: Iterable[Any], read: Callable[[Any], FoundChat | ReadyChat]) -> FoundChats:
    """Read chats one by one, so that one that cannot be read does not stop the others."""
    for number, item in enumerate(items, 1):
        try:
            found = read(item)
            chat = found if isinstance(found, ReadyChat) else convert(found)
            yield chat
            if chat.damage:
                yield NotRead(_name(item, number), " ".join(chat.damage), partly=True)
        except Broken as error:
            yield NotRead(_name(item, number), str(error))


def _items(text: str) -> tuple[bool, list[Any]]:
    """Return whether the text is complete, and its possible chats. Raises TooLarge."""
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


def _of_large(text: str) -> tuple[str, FoundChats]:
    """Recognise a text too large for memory, and read the chats of its list one by one."""
    items = each_item(text)
    try:
        first = list(islice(items, _EXAMINED))
    except ValueError:
        first = []
    chat_format = _format_of(first)
    if chat_format is None:
        return "", iter((NotRead(WHOLE_FILE[0], TOO_LARGE),))
    return chat_format.source, _read_large(chat_format, chain(first, items))


def _read_large(chat_format: _Format, items: Iterator[Any]) -> Iterator[ReadyChat | NotRead]:
    try:
        yield from _read(chat_format, items, whole=True)
    except ValueError:
        yield NotRead(WHOLE_FILE[1], TORN)


def _format_of(items: Sequence[Any]) -> _Format | None:
    looked_at = [item for item in islice(items, _EXAMINED) if isinstance(item, dict)]
    return next(
        (
            chat_format
            for chat_format in _FORMATS
            if any(chat_format.is_chat(item) for item in looked_at)
        ),
        None,
    )


def _read(chat_format: _Format, items: Iterable[Any], whole: bool) -> Iterator[ReadyChat | NotRead]:
    def read(item: Any) -> FoundChat | ReadyChat:
        if isinstance(item, TooLarge):
            raise Broken(TOO_LARGE)
        if not isinstance(item, dict) or not chat_format.is_chat(item):
            raise Broken(N_("It is not a chat from {source}.", source=chat_format.source))
        return chat_format.read(item)

    yield from read_each(items, read)
    if not whole:
        yield NotRead(WHOLE_FILE[1], TORN)


def _name(item: object, number: int) -> str:
    if isinstance(item, FoundChat):
        title = item.title
    else:
        value = as_dict(item)
        title = as_text(value.get("title")) or as_text(value.get("name"))
    return f"“{title[:80]}”" if title else f"Chat {number}"
