"""The headings and numbers of a document, and which of them a part of its text stands under."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from app.core.citations.numbering import (
    COUNTERS,
    HAN,
    LABEL,
    NUMBER,
    TO_NUMBER,
    Group,
    Number,
    label_of,
    number_of,
    roman,
)
from app.core.documents import Document, DocumentKind, LocationKind

Answer = Literal["yes", "no", "unknown"]
"""Whether a text stands at a place. unknown: The read text does not tell."""

_LINE: Final = re.compile(r"[^\n]+")
_NUMBERED: Final = re.compile(
    r"[ \t#>*_]{0,12}+(?:"
    rf"(?P<label>{LABEL}){TO_NUMBER}(?P<labelled>{NUMBER})[ \t]*(?P<after>[.:)\]\-–—,]?)"
    rf"|第[ \t]*(?P<han>[\d{HAN}]{{1,5}})[ \t]*(?P<counter>[{''.join(COUNTERS)}])"
    r"|(?P<decimal>\d{1,2}(?:\.\d{1,3}){1,4})(?P<dot>[.)]?)(?=[ \t]|$)"
    r"|(?P<simple>\(?(?:\d{1,3}|[a-z]|[ivx]{1,5}|[IVX]{1,6}|[A-Z])[.)](?=[ \t]|$)"
    rf"|[（(]?[{HAN}]{{1,3}}[、）)])"
    r"|(?P<bare>\d{1,2})(?=[ \t]+[A-ZÄÖÜ])"
    r")[*_]{0,3}[ \t]*(?P<title>[^\n]*)"
)
_SUB_LABEL: Final = re.compile(
    r"(?:Abs|Absatz|Satz|S|Nr|lit|Ziff|Ziffer|Buchst|para|paragraph|sub|sentence)\b", re.IGNORECASE
)
_LAW: Final = re.compile(r"[A-ZÄÖÜ][\w-]*(?:G|GB|O|GDPR)\b")
_MONTH: Final = re.compile(
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz?|apr(?:il)?|ma[iy]|june?|juni|july?|"
    r"juli|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\b",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(
    rf"(?:\b(?:{LABEL}|in|of|to|and|or|und|oder|bis|von|nach|gemäß|siehe|see|the|der|des|dem)"
    r"|[,(§])[ \t]*$",
    re.IGNORECASE,
)
_ENDS: Final = tuple('.:;!?)]”“"»|—。；：）」』')
_SHORT_LINE: Final = 45
"""Characters of a line that ends a paragraph; a longer one without a full stop may go on."""
_LONGEST_TITLE: Final = 90
_LONGEST_HEADING: Final = 60
_STANDALONE: Final = 400
"""Titles by which lines are sought, at most, in the cache of a document."""
_MOST_DEEP: Final = 12


@dataclass(frozen=True)
class Step:
    """A part of the number under which a text stands.

    label: The name of the label before it, "" for a bare number. begins: It is the first part of a
    number; those that follow belong to it.
    """

    value: str
    label: str = ""
    begins: bool = False


@dataclass
class _Entry:
    """A number on the way down to a place. style: How it is written."""

    number: Number
    label: str
    group: Group | None
    style: str

    @property
    def is_decimal(self) -> bool:
        return self.style == "decimal"


@dataclass(frozen=True)
class _Mark:
    """From `start` on, text stands under these steps. is_sure: No heading without number came."""

    start: int
    end: int
    steps: tuple[Step, ...]
    is_sure: bool
    title: str


class Outline:
    """The numbers and headings of a document, in their order."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._text = document.text
        self._marks: list[_Mark] = []
        self._headings: list[tuple[int, str]] = []
        self._entries: list[_Entry] = []
        if document.kind not in {DocumentKind.XLSX, DocumentKind.CSV}:
            self._read()
        self._starts = [it.start for it in self._marks]
        self._chains = {
            (label, chain[:length])
            for mark in self._marks
            for label, chain in _chains(mark.steps)
            for length in range(1, len(chain) + 1)
        }
        self._labels = {label for label, _ in self._chains}
        self._within = {
            chain[first:last]
            for _, chain in self._chains
            for first in range(len(chain))
            for last in range(first + 1, len(chain) + 1)
        }
        self._titles: dict[str, list[int]] = {}
        for start, title in self._headings:
            self._titles.setdefault(title.casefold(), []).append(start)
        self._heading_starts = [start for start, _ in self._headings]

    def stands_under(
        self,
        group: Group,
        label: str,
        number: Number,
        start: int,
        end: int,
        *,
        in_annex: bool = False,
    ) -> Answer:
        """Tell whether a text stands under a number, such as clause 4.2.

        in_annex: An annex is named as well, so a number within it is meant.
        """
        if group == "fine":
            return "unknown"
        if group == "caption":
            captions = [
                it
                for it in self._marks_in(start, end)
                if it.steps[-1:] == (Step(number[0], label, True),)
            ]
            return "yes" if any(it.start <= start <= it.end for it in captions) else "unknown"
        answers = {
            self._under(group, label, number, mark, in_annex=in_annex)
            for mark in self._marks_in(start, end)
        } or {"unknown" if not self._has(group, label, number) else "no"}
        return next(it for it in ("yes", "unknown", "no") if it in answers)  # type: ignore[return-value]

    def has_number(self, number: Number) -> bool:
        """Tell whether a number of the document is written without a label."""
        return ("", number) in self._chains

    def has_title(self, title: str) -> bool:
        """Tell whether there is a heading with these words."""
        return bool(self._positions(title))

    def stands_under_title(self, title: str, start: int, end: int) -> Answer:
        """Tell whether a text stands under a heading."""
        positions = self._positions(title)
        if not positions:
            return "unknown"
        if any(start <= it < end for it in positions):
            return "yes"
        before = [it for it in positions if it <= start]
        if not before:
            return "no"
        nearest = before[-1]
        at = bisect.bisect_right(self._heading_starts, start) - 1
        if at < 0 or self._heading_starts[at] <= nearest:
            return "unknown" if self._lone_lines(nearest, start) else "yes"
        here, there = self._mark_at(start), self._mark_at(nearest)
        if here and there and there.start == nearest and here.is_sure:
            return "yes" if here.steps[: len(there.steps)] == there.steps else "no"
        place = next(self._document.spans(nearest, nearest + 1), None)
        if place and place.place.kind in {
            LocationKind.SLIDE,
            LocationKind.SHEET,
            LocationKind.MESSAGE,
        }:
            return "no"
        return "unknown"

    def _under(
        self, group: Group, label: str, number: Number, mark: _Mark, *, in_annex: bool
    ) -> Answer:
        chains = list(_chains(mark.steps))
        exact = (label, number) in self._chains
        fitting = [
            chain
            for name, chain in chains
            if (name == label if exact else _is_alike(group, label, name))
        ]
        is_own = in_annex or not any(name in {"annex", "schedule"} for name, _ in chains)
        is_sure = mark.is_sure and is_own
        if any(chain[: len(number)] == number for chain in fitting):
            return "yes" if is_sure else "unknown"
        if group == "item" and any(_has_within(chain, number) for chain in fitting):
            # “Point 3” may also be the third division.
            is_sure = is_sure and (label in {"paragraph", "letter"} or not self._begins(number))
            return "yes" if is_sure else "unknown"
        if any(chain == number[: len(chain)] for chain in fitting):
            return "unknown"  # the rest of the number may stand within a line
        if self._has(group, label, number):
            return "no"
        if group == "item" or not fitting:
            return "unknown"
        # The number is missing: is it one of a sequence that the document has?
        is_of_sequence = len(number) == 1 or self._has(group, label, number[:-1])
        return "no" if label in self._labels or is_of_sequence else "unknown"

    def _has(self, group: Group, label: str, number: Number) -> bool:
        """Tell whether a number stands in the document."""
        if group == "item" and number in self._within:
            return True
        return any(
            (name, number) in self._chains for name in self._labels if _is_alike(group, label, name)
        )

    def _begins(self, number: Number) -> bool:
        return any((name, number) in self._chains for name in self._labels)

    def _marks_in(self, start: int, end: int) -> list[_Mark]:
        """Return the mark that a text stands under, and those within it."""
        first = bisect.bisect_right(self._starts, start) - 1
        last = bisect.bisect_left(self._starts, end)
        return self._marks[max(0, first) : max(last, first + 1)]

    def _mark_at(self, start: int) -> _Mark | None:
        at = bisect.bisect_right(self._starts, start) - 1
        return self._marks[at] if at >= 0 else None

    def _positions(self, title: str) -> list[int]:
        """Return where a heading with these words begins, also a line that is no more than it."""
        folded = " ".join(title.split()).casefold()
        if folded not in self._titles and len(self._titles) < _STANDALONE and len(folded) > 2:
            words = r"[ \t]+".join(map(re.escape, folded.split()))
            line = re.compile(rf"^[ \t#*_\d.§()]*{words}[ \t]*[:*_]*[ \t]*$", re.I | re.M)
            self._titles[folded] = [it.start() for it in line.finditer(self._text)]
        return self._titles.get(folded, [])

    def _lone_lines(self, start: int, end: int) -> bool:
        """Tell whether a line between two places may be a heading, by its looks."""
        lines = self._text[start:end].split("\n")[1:-1]
        return any(
            line.strip()
            and len(line) <= _LONGEST_HEADING
            and not line.rstrip().endswith(_ENDS)
            and line.strip()[0].isupper()
            and not before.strip()
            for before, line in zip(["x", *lines], lines, strict=False)
        )

    def _read(self) -> None:
        """Find the numbers and headings, line by line."""
        places = {
            self._document.start_of(it.place.number): it.place.title
            for it in self._document.sections
            if it.place.title
        }
        before = ""
        for line in _LINE.finditer(self._text):
            start = line.start()
            is_blank = self._text[max(0, start - 2) : start] in {"\n\n", ""}
            title = places.pop(start, None)
            entry, words = self._entry(line[0], "" if is_blank or title else before)
            if entry is not None:
                self._push(entry)
                self._mark(start, line.end(), words, sure=True)
                if words:
                    self._headings.append((start, words))
            elif title is not None:
                self._headings.append((start, title))
                if self._entries:
                    self._mark(start, line.end(), title, sure=False)
            before = line[0].rstrip() if entry is None or len(words) > _LONGEST_TITLE else ""
        self._headings += [it for it in places.items() if it not in self._headings]
        self._headings.sort()

    def _entry(self, line: str, before: str) -> tuple[_Entry | None, str]:
        """Read the number before a line, and its heading; None where there is none."""
        if len(line) > 4000 or line.count("\t") > 1 or " | " in line:
            line = line[:200] if line.count("\t") <= 1 and " | " not in line[:200] else ""
        found = _NUMBERED.match(line)
        if found is None:
            return None, ""
        title = found["title"].strip(" \t*_:–—-")
        if (not found["label"] and "(" not in found[0][:3] and _MONTH.match(title)) or (
            before and _GOES_ON.search(before)
        ):
            return None, ""
        begins = not before or before.endswith(_ENDS) or len(before) < _SHORT_LINE
        is_named = not title or not (title[0].isalpha() and title[0].islower())
        heading = (
            title if len(title) <= _LONGEST_TITLE and not title.endswith((".", ",", ";")) else ""
        )
        entry = _entry_of(found, self._entries)
        if entry is None:
            return None, ""
        if entry.label:
            is_text = _SUB_LABEL.match(title) or _LAW.match(title) or found["after"] == ","
            return (entry if begins and is_named and not is_text else None), heading
        follows = _follows(entry, self._entries)
        if entry.is_decimal:
            return (entry if (begins and is_named) or follows else None), heading
        if found["bare"]:
            begins = begins and bool(heading)
        return (entry if begins and follows else None), heading

    def _push(self, entry: _Entry) -> None:
        """Leave the entries that end where this one begins."""
        entries = self._entries
        if entry.group == "annex":
            entries.clear()
        same = [at for at, it in enumerate(entries) if _is_same_style(it, entry)]
        if entry.is_decimal and not entry.label:
            while entries and not entries[-1].label and not _is_within(entry, entries[-1]):
                entries.pop()
        elif entry.label and not same:
            while entries and not entries[-1].label:
                entries.pop()
        elif same and (entry.label or _comes_after(entries[same[-1]], entry)):
            del entries[same[-1] :]
        elif same and len(entries) >= _MOST_DEEP:
            del entries[same[-1] :]
        entries.append(entry)

    def _mark(self, start: int, end: int, title: str, *, sure: bool) -> None:
        self._marks.append(_Mark(start, end, tuple(_steps(self._entries)), sure, title))


def _entry_of(found: re.Match[str], entries: list[_Entry]) -> _Entry | None:
    if found["label"]:
        group, label = label_of(found["label"])
        if group in {"page", "fine"}:
            return None
        return _Entry(number_of(found["labelled"]), label, group, label)
    if found["han"]:
        group, label = COUNTERS[found["counter"]]
        return _Entry(number_of(found["han"]), label, group, label)
    if found["decimal"]:
        parts = found["decimal"].split(".")
        if any(len(it) > 1 and it[0] == "0" for it in parts):
            return None
        return _Entry(number_of(found["decimal"]), "", None, "decimal")
    if found["bare"]:
        return _Entry((found["bare"],), "", None, "1 ")
    text = found["simple"]
    bare = text.strip("().、（）")
    if bare.isdecimal():
        kind, value = "1", str(int(bare))
    elif bare in "ivx" and not _has_style(entries, "a", text, chr(ord(bare) - 1)):
        kind, value = "i", bare
    elif len(bare) > 1 and bare.islower():
        kind, value = "i", bare
    elif bare.isascii() and bare.isupper():
        is_letter = len(bare) == 1 and (
            bare not in "IVX" or _has_style(entries, "A", text, chr(ord(bare) - 1).lower())
        )
        kind, value = ("A", bare.lower()) if is_letter else ("I", str(roman(bare)))
    elif bare.isascii():
        kind, value = "a", bare
    else:
        kind, value = "一", number_of(bare)[0]
    return _Entry((value,), "", None, text.replace(bare, kind))


def _has_style(entries: list[_Entry], kind: str, text: str, last: str) -> bool:
    """Tell whether letters are counted in this style, and the last of them was this one."""
    style = text.replace(text.strip("()."), kind)
    return any(it.style == style and it.number == (last,) for it in entries)


def _order(entry: _Entry) -> int:
    """Return how many come up to a number that has one part."""
    value = entry.number[-1]
    if value.isdecimal():
        return int(value)
    if entry.style.strip("().") == "i":
        return roman(value)
    return ord(value[0]) - ord("a") + 1


def _follows(entry: _Entry, entries: list[_Entry]) -> bool:
    """Tell whether a bare number is the next one, or the first of a new list."""
    if entry.is_decimal:
        number = entry.number
        if number[-1] == "1" and any(it.number == number[:-1] for it in entries):
            return True
        return any(
            len(it.number) >= len(number)
            and it.number[: len(number) - 1] == number[:-1]
            and it.number[len(number) - 1].isdecimal()
            and int(number[-1]) == int(it.number[len(number) - 1]) + 1
            for it in entries
        )
    return _order(entry) == 1 or any(
        _is_same_style(it, entry) and _comes_after(it, entry) for it in entries
    )


def _is_within(entry: _Entry, other: _Entry) -> bool:
    return (
        len(entry.number)
        > len(other.number)
        == sum(one == two for one, two in zip(entry.number, other.number, strict=False))
    )


def _is_same_style(one: _Entry, other: _Entry) -> bool:
    return one.style == other.style and one.label == other.label


def _comes_after(one: _Entry, other: _Entry) -> bool:
    if one.label:
        return True
    return _order(other) == _order(one) + 1


def _steps(entries: list[_Entry]) -> Iterator[Step]:
    """Yield the parts of the number of the last entry, from the outermost."""
    chain: list[str] = []
    container = False
    for entry in entries:
        number = list(entry.number)
        if entry.label or not chain or container:
            chain = []
        if len(number) > 1 and chain and number[: len(chain)] == chain:
            yield from (Step(it) for it in number[len(chain) :])
            chain = number
            continue
        if len(number) > 1 and chain:
            chain = []
        for value in number:
            yield Step(value, entry.label, not chain)
            chain.append(value)
        container = entry.label in {"chapter", "part", "annex", "schedule"}


def _chains(steps: tuple[Step, ...]) -> Iterator[tuple[str, Number]]:
    """Yield the numbers of which steps consist, each with its label."""
    chain: list[str] = []
    label = ""
    for step in steps:
        if step.begins and chain:
            yield label, tuple(chain)
            chain = []
        if step.begins:
            label = step.label
        chain.append(step.value)
    if chain:
        yield label, tuple(chain)


def _has_within(chain: Number, number: Number) -> bool:
    return any(chain[at : at + len(number)] == number for at in range(len(chain)))


def _is_alike(group: Group, label: str, name: str) -> bool:
    """Tell whether a label of an answer may call what a document calls by another one."""
    if group == "annex":
        return name in {"annex", "schedule"}
    if label in {"chapter", "part"}:
        return name in {label, ""}
    return name not in {"annex", "schedule", "chapter", "part", "table", "figure"}
