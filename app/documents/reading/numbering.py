"""Computes the automatic numbers of clauses, headings and lists in a DOCX (ECMA-376, 17.9)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from xml.etree import ElementTree as ET

from app.documents.reading.numerals import numeral

_LEVELS: Final = 9
_PLACEHOLDER: Final = re.compile(r"%([1-9])")
_MOST_DIGITS: Final = 9
_MOST_TEXT: Final = 100
"""Maximum characters around a number, which is repeated before every paragraph of a list."""
_BULLET: Final = "\u2022"
_PRIVATE: Final = re.compile("[\ue000-\uf8ff\\w]")
"""Bullets of fonts that have symbols in place of letters."""


@dataclass(frozen=True)
class _Level:
    """A level of a list.

    Attributes:
        restart: The level, counted from 1, that restarts this one; None for every higher level, 0
            for never.
        legal: Whether the numbers of all levels are shown as decimals.
        width: Minimum number of digits, filled with zeros.
    """

    start: int = 1
    form: str = "decimal"
    text: str = ""
    restart: int | None = None
    legal: bool = False
    style: str = ""
    width: int = 0


@dataclass
class _List:
    """The definition of a list, and the current numbers of its levels."""

    levels: dict[int, _Level]
    linked: str = ""
    counts: list[int | None] = field(default_factory=lambda: [None] * _LEVELS)


class AutomaticNumbers:
    """The lists of a document."""

    def __init__(self, definitions: ET.Element | None = None) -> None:
        """Read the definitions.

        Args:
            definitions: The root element of the part `numbering`, without namespaces.
        """
        self._lists: dict[str, _List] = {}
        self._numbers: dict[str, tuple[str, dict[int, int], dict[int, _Level]]] = {}
        self._started: set[str] = set()
        if definitions is None:
            return
        for found in definitions.findall("abstractNum"):
            self._lists[found.get("abstractNumId", "")] = _List(
                dict(map(_level, found.findall("lvl"))), _value(found, "numStyleLink")
            )
        for found in definitions.findall("num"):
            starts: dict[int, int] = {}
            levels: dict[int, _Level] = {}
            for override in found.findall("lvlOverride"):
                at = _integer(override.get("ilvl", ""), 0)
                if override.find("startOverride") is not None:
                    starts[at] = _integer(_value(override, "startOverride"), 1)
                levels |= dict(map(_level, override.findall("lvl")))
            key = found.get("numId", "")
            self._numbers[key] = (_value(found, "abstractNumId"), starts, levels)

    def link(self, styles: Mapping[str, str]) -> None:
        """Let lists that refer to a style use its list.

        Args:
            styles: The list numbers of the styles, by style id.
        """
        for one in self._lists.values():
            number = self._numbers.get(styles.get(one.linked, ""))
            if one.linked and number is not None and number[0] in self._lists:
                one.levels = self._lists[number[0]].levels

    def level_of(self, number: str, styles: Iterable[str]) -> int:
        """Return the level that a list assigns to one of these styles."""
        found = self._numbers.get(number)
        if found is None or found[0] not in self._lists:
            return 0
        levels = {**self._lists[found[0]].levels, **found[2]}
        by_style = {level.style: at for at, level in levels.items() if level.style}
        return next((by_style[name] for name in styles if name in by_style), 0)

    def next(self, number: str, at: int) -> str:
        """Count a paragraph of a list and return its number as shown; "" if it has none."""
        found = self._numbers.get(number)
        if found is None or found[0] not in self._lists or not 0 <= at < _LEVELS:
            return ""
        abstract, starts, own = found
        one = self._lists[abstract]
        levels = {**one.levels, **own}
        for level, start in starts.items():
            if 0 <= level < _LEVELS:
                levels[level] = replace(levels.get(level, _Level()), start=start)
                if number not in self._started:
                    one.counts[level] = None
        self._started.add(number)
        before = one.counts[at]
        one.counts[at] = levels.get(at, _Level()).start if before is None else before + 1
        for deeper in range(at + 1, _LEVELS):
            restart = levels.get(deeper, _Level()).restart
            if restart is None or at < restart:
                one.counts[deeper] = None
        return _number_text(levels, one.counts, at)


def _number_text(levels: Mapping[int, _Level], counts: list[int | None], at: int) -> str:
    level = levels.get(at)
    if level is None:
        return ""
    if level.form == "bullet":
        text = level.text.strip()
        return _BULLET if not text or _PRIVATE.search(text) else text

    def replace_level(found: re.Match[str]) -> str:
        other = int(found[1]) - 1
        other_level = levels.get(other, _Level())
        count = counts[other]
        number = other_level.start - 1 if count is None else count
        if level.legal and other_level.form != "none":
            return str(number)
        return numeral(number, other_level.form).rjust(other_level.width, "0")

    return _PLACEHOLDER.sub(replace_level, level.text).strip()


def _level(found: ET.Element) -> tuple[int, _Level]:
    form, width = "decimal", 0
    for element in found.iter("numFmt"):
        form = element.get("val", "decimal")
        if form == "custom":  # as in “001, 002, 003”; its neighbour is for older programs
            width = len(element.get("format", "").partition(",")[0])
            form = "decimal"
            break
    restart = found.find("lvlRestart")
    legal = found.find("isLgl")
    picture = found.find("lvlPicBulletId") is not None
    return _integer(found.get("ilvl", ""), 0), _Level(
        _integer(_value(found, "start"), 0 if found.find("start") is None else 1),
        "bullet" if picture else form,
        "" if picture else _value(found, "lvlText")[:_MOST_TEXT],
        None if restart is None else _integer(restart.get("val", ""), 0),
        legal is not None and legal.get("val", "1") not in {"0", "false", "off"},
        _value(found, "pStyle"),
        min(width, _MOST_DIGITS),
    )


def _value(element: ET.Element, name: str) -> str:
    found = element.find(name)
    return "" if found is None else found.get("val", "")


def _integer(text: str, otherwise: int) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if is_number else otherwise
