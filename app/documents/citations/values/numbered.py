"""Reads the numbers at the beginning of a document's lines, such as those of clauses and lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from app.documents.citations.values.numbering import (
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

_LINE: Final = re.compile(r"[^\n]+")
_NUMBERED: Final = re.compile(
    r"[ \t#>*_]{0,12}+(?:"
    rf"(?P<label>{LABEL}){TO_NUMBER}(?P<labelled>{NUMBER})[ \t]*(?P<after>[.:)\]\-–—,]?)"
    rf"|第[ \t]*(?P<han>[\d{HAN}]{{1,5}})[ \t]*(?P<counter>[{''.join(COUNTERS)}])"
    r"|(?P<decimal>\d{1,2}(?:\.\d{1,3}){1,4})(?P<dot>[.)]?)(?=[ \t]|$)"
    r"|(?P<simple>\(?(?:\d{1,3}|[a-z]|[ivx]{1,5}|[IVX]{1,6}|[A-Z])[.)](?=[ \t]|$)"
    rf"|[\uff08(]?[{HAN}]{{1,3}}[、\uff09)])"
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
    rf"(?:{LABEL}|in|of|to|and|or|und|oder|bis|von|nach|gemäß|siehe|see|the|der|des|dem)"
    r"|.*[,(§]",
    re.IGNORECASE,
)
"""The last word of a line whose sentence continues with the number on the next line."""
_ENDS: Final = tuple('.:;!?)]”“"»|—。\uff1b\uff1a\uff09」』')
_SHORT_LINE: Final = 45
"""Maximum characters of a line that ends a paragraph without a full stop."""
_LONGEST_TITLE: Final = 90
_MOST_DEEP: Final = 12
_MOST_SKIPPED: Final = 5
_LONGEST_LINE: Final = 4000
_LAST_WORD: Final = 24
_NEXT: Final = {
    "1": set("2345"),
    "a": set("bcd"),
    "i": {"ii", "iii", "iv"},
    "A": set("BCD"),
    "I": {"II", "III", "IV"},
    "一": set("二三四"),
}
"""The numbers that can follow the first one of a list; a few can be missing."""


@dataclass(frozen=True)
class NumberPart:
    """One part of the number that a text stands under.

    Attributes:
        label: The name of the label before it; "" for a bare number.
        begins: It is the first part of a number, and the next parts belong to it.
    """

    value: str
    label: str = ""
    begins: bool = False


@dataclass(frozen=True)
class Mark:
    """The number that the text from `start` on stands under.

    Attributes:
        start: Where the line begins.
        end: Where the line ends.
        steps: The parts of the number, from the outermost.
        is_sure: The text that follows certainly stands under it. It is uncertain after a heading
            without a number, or in a list numbered like the clauses around it.
        following: Matches the next number within a line; None if that cannot be recognised.
    """

    start: int
    end: int
    steps: tuple[NumberPart, ...]
    is_sure: bool = True
    following: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Line:
    """A line of a document.

    Attributes:
        before: The line above; "" if this line begins a paragraph.
        title: The words of the heading, if the line is known to be one.
        starts_anew: The numbering restarts here, as with each message.
    """

    start: int
    text: str
    before: str
    title: str | None = None
    starts_anew: bool = False

    @property
    def end(self) -> int:
        """The position after the last character."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class _Entry:
    """A number on the path to a place.

    Attributes:
        group: The group of its label; None without a label.
        style: How it is written.
        text: The number as written.
    """

    number: Number
    label: str
    group: Group | None
    style: str
    text: str
    is_sure: bool = True

    @property
    def is_decimal(self) -> bool:
        return self.style == "decimal"


@dataclass(frozen=True)
class _Candidate:
    """A line that can begin with a number.

    Attributes:
        style: How the number is written, with its value replaced by the first of its kind.
        value: The number; "" for numbers with a label or with several parts.
        words: The rest of the line.
        begins: The line can begin a paragraph.
    """

    line: Line
    found: re.Match[str]
    style: str
    value: str
    words: str
    begins: bool


class NumberReader:
    """Reads the numbers of lines.

    Attributes:
        marks: Where a text under a number begins.
        headings: The headings with and without numbers, and where they begin.
        captions: The label, number, start and end of each line that begins with the number of a
            table or figure.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self.marks: list[Mark] = []
        self.headings: list[tuple[int, str]] = []
        self.captions: list[tuple[str, Number, int, int]] = []
        self._entries: list[_Entry] = []
        self._titles: dict[tuple[str, Number], str] = {}
        self._under_heading = False
        everything = [
            (line, found)
            for line in lines
            if (found := _candidate(line)) or line.title is not None or line.starts_anew
        ]
        self._begin_lists = _begin_lists(found for _, found in everything if found)
        for line, found in everything:
            self._read_line(line, found)

    def _read_line(self, line: Line, found: _Candidate | None) -> None:
        if line.starts_anew:
            self._entries = []
        entry = self._entry(found) if found else None
        if found and entry and entry.group == "caption":
            self.captions.append((entry.label, entry.number, line.start, line.end))
        elif found and entry:
            self._push(entry, found.words)
            self._under_heading = False
            self._mark(line)
            if found.words or line.title:
                self.headings.append((line.start, found.words or line.title or ""))
        elif line.title is not None:
            self.headings.append((line.start, line.title))
            self._under_heading = True
            if self._entries:
                self._mark(line)

    def _entry(self, found: _Candidate) -> _Entry | None:
        """Return the number at the beginning of a line; None if it is not one."""
        entry = _entry_of(found, self._entries)
        if entry is None:
            return None
        words, is_heading = found.words, found.line.title is not None
        is_named = not words or not (words[0].isalpha() and words[0].islower())
        if entry.label:
            is_text = _SUB_LABEL.match(words) or _LAW.match(words) or found.found["after"] == ","
            return entry if found.begins and is_named and not is_text else None
        if entry.is_decimal:
            follows = _follows(entry, self._entries)
            return entry if (found.begins and is_named) or follows else None
        if not found.begins or (found.style.startswith("1 ") and not _is_title(words)):
            return None
        if _order(entry) == 1:
            return entry if is_heading or id(found) in self._begin_lists else None
        return entry if _follows(entry, self._entries, skips=not found.line.before) else None

    def _push(self, entry: _Entry, words: str) -> None:
        """Close the numbers that end where this one begins, and add it."""
        entries = self._entries
        if entry.group == "annex":
            entries.clear()
        same = [at for at, previous in enumerate(entries) if previous.style == entry.style]
        # In a table of contents dots and a page number follow the heading.
        title = words.rstrip("0123456789").rstrip(" .…\t").casefold()
        if entry.is_decimal:
            while entries and not entries[-1].label and not _is_within(entry, entries[-1]):
                entries.pop()
        elif entry.label and same:
            del entries[same[-1] :]
        elif entry.label:
            while entries and not entries[-1].label:
                entries.pop()
        elif same and _order(entry) == 1:
            entry = self._restarted(entry, same[0], title)
        elif same:
            fitting = [at for at in same if _order(entries[at]) + 1 == _order(entry)]
            at = fitting[-1] if fitting else same[0]
            entry = replace(entry, is_sure=entries[at].is_sure and len(fitting) < 2)
            del entries[at:]
        self._titles.setdefault((entry.style, entry.number), title)
        entries.append(entry)

    def _restarted(self, entry: _Entry, first: int, title: str) -> _Entry:
        """Return the first number of a list that is written like a list still open.

        It can be a nested list, unless the headings show that it is not.
        """
        if title and self._titles.get((entry.style, entry.number)) == title:
            del self._entries[first:]  # a table of contents came before
            return entry
        if self._under_heading or len(self._entries) >= _MOST_DEEP:
            del self._entries[first:]
        return replace(entry, is_sure=False)

    def _mark(self, line: Line) -> None:
        is_sure = not self._under_heading and all(entry.is_sure for entry in self._entries)
        following = _next_within_line(self._entries[-1]) if not self._under_heading else None
        self.marks.append(
            Mark(line.start, line.end, tuple(_steps(self._entries)), is_sure, following)
        )


def _candidate(line: Line) -> _Candidate | None:
    """Return the number that a line seems to begin with; table rows have none."""
    text = line.text
    if len(text) > _LONGEST_LINE or text.count("\t") > 1 or " | " in text:
        return None
    found = _NUMBERED.match(text)
    if found is None:
        return None
    words = found["title"].strip(" \t*_:–—-")
    if found["simple"] and "(" not in found["simple"] and _MONTH.match(words):
        return None
    before = "" if line.title is not None else line.before
    last_word = before[-_LAST_WORD:].rpartition(" ")[2].lstrip("([„“")
    if last_word and _GOES_ON.fullmatch(last_word):
        return None
    begins = not before or before.endswith(_ENDS) or len(before) < _SHORT_LINE
    value = found["bare"] or (found["simple"] or "").strip("().、\uff08\uff09")
    style = ""
    if value:
        style = "1 " if found["bare"] else found["simple"].replace(value, _class_of(value))
        style += "#" if line.title is not None else "  " if text.startswith(("  ", "\t")) else ""
    return _Candidate(line, found, style, value, words, begins)


def _class_of(value: str) -> str:
    """Return the first number of the same kind: "1", "一", "i", "I", "a" or "A"."""
    if value.isdecimal():
        return "1"
    if not value.isascii():
        return "一"
    if len(value) > 1 or value in "iI":
        return "i" if value.islower() else "I"
    return "a" if value.islower() else "A"


def _begin_lists(found: Iterable[_Candidate]) -> set[int]:
    """Return the ids of the first numbers that others follow, possibly after a nested list."""
    last: dict[str, _Candidate] = {}
    begin: set[int] = set()
    for candidate in reversed(
        [candidate for candidate in found if candidate.value and candidate.begins]
    ):
        style = candidate.style.replace("i", "a").replace("I", "A")
        if following := last.get(style):
            first = _class_of(candidate.value)
            goes_on = following.value == candidate.value == first and id(following) in begin
            if goes_on or following.value in _NEXT[first]:
                begin.add(id(candidate))
        last[style] = candidate
    return begin


def _is_title(words: str) -> bool:
    return bool(words) and len(words) <= _LONGEST_TITLE and not words.endswith((".", ",", ";"))


def _entry_of(candidate: _Candidate, entries: list[_Entry]) -> _Entry | None:
    found = candidate.found
    if found["label"] or found["han"]:
        group, label = label_of(found["label"]) if found["label"] else COUNTERS[found["counter"]]
        if group in {"page", "fine"}:
            return None
        text = found["labelled"] or found["han"]
        return _Entry(number_of(text), label, group, label, text)
    if found["decimal"]:
        if re.search(r"(?:^|\.)0\d", found["decimal"]):
            return None
        return _Entry(number_of(found["decimal"]), "", None, "decimal", found["decimal"])
    return _bare_entry(candidate.value, candidate.style, entries)


def _bare_entry(value: str, style: str, entries: list[_Entry]) -> _Entry:
    """Return an entry with a single number; “i” and “I” can be letters or Roman numerals."""
    if not (value.isascii() and value.isalpha()):
        return _Entry(number_of(value), "", None, style, value)
    is_letter = False
    if len(value) == 1:
        is_letter = value not in "ivxIVX" or any(
            entry.style == style.replace(_class_of(value), "a" if value.islower() else "A", 1)
            and entry.number == (chr(ord(value.lower()) - 1),)
            for entry in entries
        )
        kind = "aA" if is_letter else "iI"
        style = style.replace(_class_of(value), kind[value.isupper()], 1)
    number = value.lower() if is_letter or value.islower() else str(roman(value))
    return _Entry((number,), "", None, style, value)


def _order(entry: _Entry) -> int:
    """Return the position in its list of an entry with a single number, from 1."""
    value = entry.number[-1]
    if value.isdecimal():
        return int(value)
    if "i" in entry.style:
        return roman(value)
    return ord(value[0]) - ord("a") + 1


def _follows(entry: _Entry, entries: list[_Entry], *, skips: bool = False) -> bool:
    """Return whether a number comes next after one that is open.

    Args:
        skips: A few numbers can be missing in between.
    """
    if not entry.is_decimal:
        most = _MOST_SKIPPED if skips else 1
        return any(
            previous.style == entry.style and 0 < _order(entry) - _order(previous) <= most
            for previous in entries
        )
    number = entry.number
    if number[-1] == "1" and any(entry.number == number[:-1] for entry in entries):
        return True
    return any(
        len(entry.number) >= len(number)
        and entry.number[: len(number) - 1] == number[:-1]
        and entry.number[len(number) - 1].isdecimal()
        and int(number[-1]) == int(entry.number[len(number) - 1]) + 1
        for entry in entries
    )


def _is_within(entry: _Entry, other: _Entry) -> bool:
    """Return whether a number is part of another one, as 4.2 is of 4."""
    length = len(other.number)
    return length < len(entry.number) and entry.number[:length] == other.number


def _next_within_line(entry: _Entry) -> re.Pattern[str] | None:
    """Return a pattern for the next number after a sentence within a line; None if unknown."""
    last = entry.number[-1]
    if not last.isdecimal() and len(last) > 1:
        return None
    value = str(int(last) + 1) if last.isdecimal() else chr(ord(last) + 1)
    if entry.is_decimal:
        written = re.escape(".".join((*entry.number[:-1], value))) + r"\.?"
    elif entry.label or entry.style.startswith("1 "):
        return None
    else:
        written = re.escape(entry.style.rstrip("# ").replace(_class_of(entry.text), value, 1))
    return re.compile(rf"(?<=[.;:!?)”“\"])\s+{written}\s+(?=[A-ZÄÖÜ“\"„])")


def _steps(entries: list[_Entry]) -> Iterator[NumberPart]:
    """Yield the parts of the last entry's number, from the outermost."""
    chain: list[str] = []
    container = False
    for entry in entries:
        number = list(entry.number)
        if entry.label or container:
            chain = []
        if len(number) > 1 and chain:
            if number[: len(chain)] == chain:
                yield from (NumberPart(part) for part in number[len(chain) :])
                chain = number
                continue
            chain = []
        for value in number:
            yield NumberPart(value, entry.label, not chain)
            chain.append(value)
        container = entry.label in {"chapter", "part", "annex", "schedule"}


def chains_of(steps: Iterable[NumberPart]) -> Iterator[tuple[str, Number]]:
    """Yield the numbers that the parts form, each with its label."""
    chain: list[str] = []
    label = ""
    for step in steps:
        if step.begins:
            if chain:
                yield label, tuple(chain)
            chain, label = [], step.label
        chain.append(step.value)
    if chain:
        yield label, tuple(chain)
