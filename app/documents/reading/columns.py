"""Puts the text of a page into reading order if it was drawn across columns.

PDFium returns text in the order in which it was drawn. Most programs draw one column after the
other. Some, and those that recognise text on scans, go from left to right across all columns, which
produces sentences that nobody wrote. Tables are drawn like that too, and have to be read like that:
their cells are short.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

from app.documents.values.shifted import raised

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

HYPHENS: Final = "\ufffe\u0002"
"""PDFium's characters for a hyphen at the end of a line within a word."""

Character = tuple[str, int]
"""A character of a page, and its number in PDFium's text; -1 for one that was inserted."""

_LEAST_LINES: Final = 4
"""Minimum number of lines side by side that count as columns."""

_LEAST_WIDTH: Final = 9.0
"""Minimum width of a column's line, in multiples of its height; table cells are usually shorter."""

_WORD_GAP: Final = 1.0
"""Maximum gap between words, in multiples of the line height."""

_RAISABLE: Final = set("0123456789+-\u2212")
_MOST_RAISED_HEIGHT: Final = 0.85
_LEAST_RAISED: Final = 0.15
_RAISED_GAP: Final = 0.2
"""The limits of a superscript, in multiples of its base's height.

They are its maximum height, its minimum raise, and its maximum distance.
"""

_MOST_RECTANGLES: Final = 20_000
_BREAK: Final = ("\n", -1)


@dataclass(frozen=True)
class _Segment:
    """A part of a line without gaps wider than between words."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def is_long(self) -> bool:
        return self.right - self.left >= _LEAST_WIDTH * self.height

    def follows(self, other: _Segment) -> bool:
        """Return whether it begins where the other ends."""
        return abs(self.left - other.right) <= _RAISED_GAP * max(self.height, other.height)

    def is_raised_after(self, base: _Segment, last: _Segment) -> bool:
        """Return whether it is a superscript after its base, or after another superscript."""
        higher = self.bottom - base.bottom
        return (
            self.height <= _MOST_RAISED_HEIGHT * base.height
            and _LEAST_RAISED * base.height <= higher <= base.height
            and -_RAISED_GAP * base.height <= self.left - last.right <= _RAISED_GAP * base.height
        )

    def is_next_to(self, other: _Segment) -> bool:
        """Return whether both are in the same line."""
        common = min(self.top, other.top) - max(self.bottom, other.bottom)
        return common >= min(self.height, other.height) / 2


@dataclass
class _Zone:
    """Lines that are side by side.

    Attributes:
        drawn: The lines in drawing order.
        rows: The number of rows with text in both columns.
    """

    left: list[list[Character]] = field(default_factory=list)
    right: list[list[Character]] = field(default_factory=list)
    drawn: list[list[Character]] = field(default_factory=list)
    rows: int = 0
    last: str = ""

    def add(self, side: str, run: list[Character], *, same_line: bool) -> None:
        self.rows += same_line and side == "right" and self.last == "left"
        self.last = side
        (self.left if side == "left" else self.right).append(run)
        self.drawn.append(run)

    def ordered(self) -> list[list[Character]]:
        return [*self.left, *self.right] if self.rows >= _LEAST_LINES else self.drawn


def in_reading_order(words: PdfTextPage) -> list[Character]:
    """Return the characters of a page in reading order."""
    drawn = [(character, at) for at, character in enumerate(words.get_text_range())]
    rectangles = list(_rectangles(words))
    if any(other.is_raised_after(one, one) for one, other in pairwise(rectangles)):
        drawn = _with_raised(words, drawn)
    gutter = _gutter(list(_segments(rectangles)))
    return drawn if gutter is None else list(_by_columns(words, drawn, gutter))


def _with_raised(words: PdfTextPage, drawn: Sequence[Character]) -> list[Character]:
    """Write superscript numbers as such, without the line breaks that PDFium adds next to them."""
    found: list[Character] = []
    word_start = 0  # the number of characters before the latest white space
    base: _Segment | None = None
    last: _Segment | None = None  # the previous superscript
    for glyph in drawn:
        if glyph[0].isspace():
            found.append(glyph)
            continue
        box = _bounds(words, glyph[1]) if last or glyph[0] in _RAISABLE else None
        if last is None:
            base = _bounds(words, found[word_start - 1][1]) if box and word_start else None
        is_raised = joined = False
        if box is not None and base is not None:
            is_raised = glyph[0] in _RAISABLE and box.is_raised_after(base, last or base)
            joined = last is not None and box.follows(last) and box.is_next_to(base)
        if is_raised or joined:
            del found[word_start:]
        last = box if is_raised else None
        found.append((raised(glyph[0]), glyph[1]) if is_raised else glyph)
        word_start = len(found)
    return found


def _rectangles(words: PdfTextPage) -> Iterator[_Segment]:
    from pypdfium2 import raw

    count = raw.FPDFText_CountRects(words, 0, -1)
    for at in range(count if count <= _MOST_RECTANGLES else 0):
        left, top, right, bottom = (ctypes.c_double() for _ in range(4))
        if raw.FPDFText_GetRect(words, at, left, top, right, bottom):
            yield _Segment(left.value, right.value, bottom.value, top.value)


def _segments(rectangles: Iterable[_Segment]) -> Iterator[_Segment]:
    """Join the pieces of a line that are drawn one after another with at most a word's gap."""
    last: _Segment | None = None
    for rectangle in rectangles:
        if last is not None and last.is_next_to(rectangle):
            gap = rectangle.left - last.right
            if -last.height <= gap <= _WORD_GAP * max(last.height, rectangle.height):
                last = _Segment(
                    last.left,
                    rectangle.right,
                    min(last.bottom, rectangle.bottom),
                    max(last.top, rectangle.top),
                )
                continue
        if last is not None:
            yield last
        last = rectangle
    if last is not None:
        yield last


def _gutter(segments: Sequence[_Segment]) -> float | None:
    """Find the right edge of the gap between two columns, if text repeatedly crosses it."""
    pairs = [
        (one, other)
        for one, other in pairwise(segments)
        if one.is_next_to(other) and other.left > one.right and one.is_long and other.is_long
    ]
    if len(pairs) < _LEAST_LINES:
        return None
    height = median(one.height for one, _ in pairs)
    gutter = median(other.left for _, other in pairs) - height / 4
    fitting = sum(one.right <= gutter <= other.left + height / 2 for one, other in pairs)
    return gutter if fitting >= max(_LEAST_LINES, 0.8 * len(pairs)) else None


def _by_columns(
    words: PdfTextPage, drawn: Sequence[Character], gutter: float
) -> Iterator[Character]:
    """Yield the text left of the gutter, then the text right of it.

    A line across both columns starts both again below it.
    """
    zone, first = _Zone(), True
    for run, side, same_line in _runs(words, drawn, gutter):
        if side:
            zone.add(side, run, same_line=same_line)
            continue
        for line in (*zone.ordered(), run):
            yield from line if first else (_BREAK, *line)
            first = False
        zone = _Zone()
    for line in zone.ordered():
        yield from line if first else (_BREAK, *line)
        first = False


def _runs(
    words: PdfTextPage, drawn: Sequence[Character], gutter: float
) -> Iterator[tuple[list[Character], str, bool]]:
    """Yield parts of lines with their side of the gutter, "" if they cross it.

    The third value is whether the part is in the same line as the one before.
    """
    line: list[Character] = []
    for segment in (*drawn, _BREAK):
        if segment[0] not in "\r\n":
            line.append(segment)
            if segment[0] not in HYPHENS:
                continue
        yield from _parts(words, line, gutter)
        line = []


def _parts(
    words: PdfTextPage, line: list[Character], gutter: float
) -> Iterator[tuple[list[Character], str, bool]]:
    """Divide a line at the gutter, unless a word or a gap between words covers it."""
    boxes = [_box(words, at) if not character.isspace() else None for character, at in line]
    visible = [(at, box) for at, box in enumerate(boxes) if box is not None]
    if not visible:
        if line:
            yield line, "", False
        return
    cuts = [0]
    for (_, one), (at, other) in pairwise(visible):
        jumps = (one[0] < gutter) != (other[0] < gutter)
        if jumps and other[0] - one[1] > one[2]:
            cuts.append(at)
    cuts.append(len(line))
    if len(cuts) == 2 and visible[0][1][0] < gutter < visible[-1][1][1]:
        yield line, "", False
        return
    for number, (start, end) in enumerate(pairwise(cuts)):
        run = line[start:end]
        while run and run[-1][0].isspace():
            run.pop()
        box = next(box for at, box in visible if at >= start)
        yield run, "left" if box[0] < gutter else "right", number > 0


def _box(words: PdfTextPage, at: int) -> tuple[float, float, float] | None:
    """Return the left edge, the right edge and the height of a character."""
    bounds = _bounds(words, at)
    return None if bounds is None else (bounds.left, bounds.right, bounds.height)


def _bounds(words: PdfTextPage, at: int) -> _Segment | None:
    """Return the bounds of a character."""
    from pypdfium2 import raw

    box = raw.FS_RECTF()
    index = raw.FPDFText_GetCharIndexFromTextIndex(words, at)
    if index < 0 or not raw.FPDFText_GetLooseCharBox(words, index, box):
        return None
    return _Segment(box.left, box.right, box.bottom, box.top)
