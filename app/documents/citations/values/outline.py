"""The headings and numbers of a document, and which of them a part of its text is under."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Final, Literal

from app.documents.citations.values.numbered import Line, Mark, NumberPart, NumberReader, chains_of
from app.documents.citations.values.numbering import Group, Number
from app.documents.values.documents import Document, DocumentKind, LocationKind

Answer = Literal["yes", "no", "unknown"]
"""An answer: yes if a text is at a place; unknown if the text that was read does not show it."""

_LINE: Final = re.compile(r"[^\n]+")
_ENDS: Final = (".", ":", ";", "!", "?", ",", "。")
_LONGEST_HEADING: Final = 60
_LONE_LINE: Final = re.compile(r"^[^\n]{3,90}$", re.MULTILINE)
_NUMBER_BEFORE: Final = re.compile(r"[ \t#*_\d.§()]*")
_MOST_POSITIONS: Final = 100
_FAR: Final = 20_000
"""Characters after a heading within which lines are examined."""
_APART: Final = {LocationKind.SLIDE, LocationKind.SHEET, LocationKind.MESSAGE}
"""Places that have headings and numbers of their own."""
_ANNEXES: Final = {"annex", "schedule"}


class Numbering:
    """The numbers and headings of a document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._text = document.text
        is_table = document.kind in {DocumentKind.XLSX, DocumentKind.CSV}
        read = NumberReader(() if is_table else self._lines())
        self._marks = read.marks
        self._captions = read.captions
        self._headings = read.headings
        if is_table:
            self._headings = sorted(self._places().items())
        self._starts = [mark.start for mark in self._marks]
        self._chains = {
            (label, chain[:length])
            for mark in self._marks
            for label, chain in chains_of(mark.steps)
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
            self._titles.setdefault(_folded(title), []).append(start)
        self._heading_starts = [start for start, _ in self._headings]
        self._ends_within = cache(self._end_within_lines)

    def _lines(self) -> Iterator[Line]:
        places = self._places()
        apart = {
            self._document.start_of(section.place.number)
            for section in self._document.sections
            if section.place.kind in _APART
        }
        before = ""
        for found in _LINE.finditer(self._text):
            start = found.start()
            is_new = self._text[max(0, start - 2) : start] in {"\n\n", ""}
            title = places.get(start)
            yield Line(start, found[0], "" if is_new else before, title, start in apart)
            before = found[0].rstrip()

    def _places(self) -> dict[int, str]:
        """Return the titles of the document's places by the positions where they begin."""
        return {
            self._document.start_of(section.place.number): section.place.title
            for section in self._document.sections
            if section.place.title
        }

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
        """Return whether a text is under a number, such as clause 4.2.

        Args:
            in_annex: An annex is named too, so a number within it is meant.
        """
        if group == "caption":
            is_there = any(
                (label, number) == (name, other) and first <= start <= last
                for name, other, first, last in self._captions
            )
            return "yes" if is_there else "unknown"
        if group == "fine":
            return "unknown"
        answers = {
            self._under(group, label, number, mark, steps, in_annex=in_annex)
            for mark, steps in self._marks_in(start, end)
        }
        if not answers:
            return "no" if self._has(group, label, number) else "unknown"
        return "yes" if "yes" in answers else "unknown" if "unknown" in answers else "no"

    def has_number(self, number: Number) -> bool:
        """Return whether the document has this number without a label."""
        return ("", number) in self._chains

    def has_title(self, title: str) -> bool:
        """Return whether there is a heading with these words."""
        return bool(self._positions(title))

    def stands_under_title(self, title: str, start: int, end: int) -> Answer:
        """Return whether a text is under a heading."""
        positions = self._positions(title)
        if bisect.bisect_left(positions, start) < bisect.bisect_left(positions, end):
            return "yes"
        at = bisect.bisect_right(positions, start) - 1
        if at < 0:
            return "no" if positions else "unknown"
        return self._goes_on(positions[at], start, end)

    def _goes_on(self, heading: int, start: int, end: int) -> Answer:
        """Return whether the text under a heading extends to another position."""
        place = next(self._document.spans(heading, heading + 1), None)
        if place and place.place.kind in _APART:
            places = {span.place.number for span in self._document.spans(start, end)}
            if place.place.number not in places:
                return "no"
        at = bisect.bisect_right(self._heading_starts, start) - 1
        if at < 0 or self._heading_starts[at] <= heading:
            return "unknown" if self._has_lone_line(heading, start) else "yes"
        mark, heading_mark = self._mark_at(start), self._mark_at(heading)
        if mark and heading_mark and heading_mark.start == heading and mark.is_sure:
            return "yes" if mark.steps[: len(heading_mark.steps)] == heading_mark.steps else "no"
        return "unknown"

    def _under(
        self,
        group: Group,
        label: str,
        number: Number,
        mark: Mark,
        steps: tuple[NumberPart, ...],
        *,
        in_annex: bool,
    ) -> Answer:
        chains = list(chains_of(steps))
        exact = (label, number) in self._chains
        fitting = [
            chain
            for name, chain in chains
            if (name == label if exact else _is_alike(group, label, name))
        ]
        is_behind = any(name in _ANNEXES for name, _ in chains)
        is_sure = mark.is_sure and (in_annex or not is_behind)
        matches = any(chain[: len(number)] == number for chain in fitting)
        if not matches and (group == "item" or not mark.is_sure):
            matches = any(_has_within(chain, number) for chain in fitting)
            # “Point 3” can also mean the third division.
            is_sure = is_sure and (label in {"paragraph", "letter"} or not self._begins(number))
        if matches:
            return "yes" if is_sure else "unknown"
        if any(chain == number[: len(chain)] for chain in fitting):
            return "unknown"  # the rest of the number can be within a line
        if is_behind and group != "annex" and not fitting:
            return "unknown"
        return "no" if self._is_elsewhere(group, label, number, fitting) else "unknown"

    def _is_elsewhere(
        self, group: Group, label: str, number: Number, fitting: list[Number]
    ) -> bool:
        """Return whether a number differs from those that a text is under."""
        if self._has(group, label, number):
            return True
        if group == "item" or not fitting:
            return False
        # The number is missing: is it one of a sequence that the document has?
        is_of_sequence = len(number) == 1 or self._has(group, label, number[:-1])
        return label in self._labels or is_of_sequence

    def _has(self, group: Group, label: str, number: Number) -> bool:
        """Return whether the document has a number."""
        if group == "item" and label != "step" and number in self._within:
            return True
        return any(
            (name, number) in self._chains for name in self._labels if _is_alike(group, label, name)
        )

    def _begins(self, number: Number) -> bool:
        return any((name, number) in self._chains for name in self._labels)

    def _marks_in(self, start: int, end: int) -> Iterator[tuple[Mark, tuple[NumberPart, ...]]]:
        """Yield the mark that a text is under and the marks within it, each with its steps.

        The first mark's last step is dropped if the next number came within a line before the text.
        """
        first = bisect.bisect_right(self._starts, start) - 1
        if first >= 0:
            mark = self._marks[first]
            ended = start >= self._ends_within(first)
            yield mark, mark.steps[:-1] if ended else mark.steps
        for mark in self._marks[first + 1 : bisect.bisect_left(self._starts, end)]:
            yield mark, mark.steps

    def _end_within_lines(self, at: int) -> int:
        """Return where a mark's next number is within a line, or beyond the end of the text."""
        mark = self._marks[at]
        end = self._starts[at + 1] if at + 1 < len(self._starts) else len(self._text)
        found = mark.following.search(self._text, mark.start, end) if mark.following else None
        return found.start() if found else len(self._text) + 1

    def _mark_at(self, start: int) -> Mark | None:
        at = bisect.bisect_right(self._starts, start) - 1
        return self._marks[at] if at >= 0 else None

    def _positions(self, title: str) -> list[int]:
        """Return where a heading with these words begins, or a line with only these words."""
        folded = _folded(title)
        return self._titles.get(folded) or self._lone_lines.get(folded, [])

    @cached_property
    def _lone_lines(self) -> dict[str, list[int]]:
        """The positions of short lines, by their words."""
        found: dict[str, list[int]] = {}
        for line in _LONE_LINE.finditer(self._text):
            positions = found.setdefault(_folded(line[0]), [])
            if len(positions) < _MOST_POSITIONS:
                positions.append(line.start())
        return found

    def _has_lone_line(self, start: int, end: int) -> bool:
        """Return whether a line between two positions looks like a heading."""
        if end - start > _FAR:
            return True
        lines = self._text[start:end].split("\n")[1:-1]
        return any(
            line.strip()[:1].isupper()
            and len(line) <= _LONGEST_HEADING
            and not line.rstrip().endswith(_ENDS)
            and not before.strip()
            for before, line in zip(["x", *lines], lines, strict=False)
        )


def _folded(title: str) -> str:
    """Return the words of a heading without its number."""
    words = title[_NUMBER_BEFORE.match(title).end() :]  # type: ignore[union-attr]
    return " ".join(words.split()).rstrip(":*_ ").casefold()


def _has_within(chain: Number, number: Number) -> bool:
    return any(chain[at : at + len(number)] == number for at in range(len(chain)))


def _is_alike(group: Group, label: str, name: str) -> bool:
    """Return whether an answer's label can mean what the document labels `name`."""
    if group == "annex":
        return name in _ANNEXES
    if label in {"chapter", "part", "step"}:
        return name in {label, ""}
    return name not in {*_ANNEXES, "chapter", "part"}
