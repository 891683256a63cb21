"""Gets values out of untrusted JSON; every getter returns a value, and none raises."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

LONGEST_ID = 200
_LONGEST_NUMBER = 30
"""Most digits; Python takes minutes for numbers of millions of digits."""
_MILLISECONDS = 1e11
"""A time above this is in milliseconds: in seconds it would be in the year 5138."""
_EARLIEST, _LATEST = 0.0, 4_102_444_800.0
"""1970 and 2100, in seconds since 1970."""
_BEGINNINGS = ("[", "{")
_MARKS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
"""Whole strings, and the brackets of lists and objects."""

MOST_WEIGHT = 400_000_000
"""Most bytes of memory for one JSON value."""

_OF_A_LIST, _OF_A_VALUE = 200, 60
"""Most bytes that CPython takes for a list and for a value, besides its text."""

_BETWEEN = re.compile(r"[\s,]*")


def as_dict(value: object) -> Mapping[str, Any]:
    """Return an object; an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a list; an empty one for any other value."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return a text without lone surrogates and NUL, which files cannot hold; "" for no text."""
    if not isinstance(value, str):
        return ""
    try:
        value.encode()
    except UnicodeEncodeError:
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value.replace("\0", "\ufffd")


def as_id(value: object) -> str:
    """Return a text or an integer as an id; "" for anything else or too long a text."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    text = as_text(value)
    return text if len(text) <= LONGEST_ID else ""


def as_number(value: object) -> float:
    """Return a finite number; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        return 0.0
    return number if math.isfinite(number) else 0.0


def as_time(value: object) -> float | None:
    """Return seconds since 1970 from seconds, milliseconds or an ISO date; None for anything else.

    A date without a time zone is taken as UTC, like SQLite's CURRENT_TIMESTAMP.
    """
    if isinstance(value, str):
        try:
            date = datetime.fromisoformat(value.strip())
            number = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    else:
        number = as_number(value)
        if number > _MILLISECONDS:
            number /= 1000
    return number if _EARLIEST < number < _LATEST else None


class TooLarge(ValueError):
    """A JSON value would take too much memory."""


def from_json(text: str) -> Any:
    """Parse JSON.

    Raises:
        ValueError: The text is not JSON, or is nested too deep.
        TooLarge: The value would take too much memory.
    """
    if weight(text) > MOST_WEIGHT:
        raise TooLarge
    try:
        return _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("It is nested too deep.") from error


def weight(text: str) -> int:
    """Estimate from its text how many bytes of memory a value takes at most."""
    lists, values = text.count("[") + text.count("{"), text.count(",") + text.count(":")
    return len(text) + lists * _OF_A_LIST + values * _OF_A_VALUE


def each_item(text: str) -> Iterator[Any]:
    """Yield the elements of the first list in a JSON text, releasing each before the next.

    TooLarge is yielded, not raised, in place of an element that is too large.

    Raises:
        ValueError: The text is truncated, or the list contains something other than objects.
    """
    place = text.find("[") + 1
    ends = _ends(text, place) if place else iter(())
    for begin, end in ends:
        item = text[begin:end]
        if not item.startswith(_BEGINNINGS):
            raise ValueError("It is no list of objects.")
        try:
            yield from_json(item)
        except TooLarge as error:
            yield error


def _ends(text: str, place: int) -> Iterator[tuple[int, int]]:
    """Yield where each element of a list begins and ends.

    Args:
        place: The position after the list's opening bracket.
    """
    depth, begin = 0, place
    for found in _MARKS.finditer(text, place):
        mark = found[0]
        if mark in ("[", "{"):
            if depth == 0:
                begin = found.start()
            depth += 1
        elif mark in ("]", "}"):
            if depth == 0:
                return
            depth -= 1
            if depth == 0:
                yield begin, found.end()
    raise ValueError("The text breaks off.")


def torn_items(text: str) -> Iterator[Any]:
    """Yield the complete elements of the first list in a truncated JSON text.

    Anything before that list is skipped: exports keep their chats in one list.
    """
    place = text.find("[") + 1
    while place:
        place = _BETWEEN.match(text, place).end()  # type: ignore[union-attr]
        if not text.startswith(_BEGINNINGS, place):
            return
        try:
            item, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield item


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else math.inf


_DECODER = json.JSONDecoder(parse_int=_integer)
