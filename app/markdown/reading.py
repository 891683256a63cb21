"""Blocks as a person reads them: their words without markup, and marks laid over them.

An answer is checked as its reader sees it. Code is not prose, so it is left out: it neither
contains a quote nor is part of one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from app.markdown.blocks import Block, Mark, Paragraph, Span, Table
from app.markdown.spans import LINE_BREAK

_NO_WORDS: Final = "\ufffc"
"""A placeholder for content without words: a block of code, or each character of a formula."""

_BETWEEN_BLOCKS: Final = "\n\n"
_BETWEEN_CELLS: Final = "\t"
_BETWEEN_ROWS: Final = "\n"
_QUOTED: Final = "> "
"""The prefix of a block in a quotation."""
_QUOTATION_MARKS: Final = re.compile(
    "[\"'“”„‟«»\u2018\u2019\u201a\u2039\u203a「」『』《》〈〉﹁﹂﹃﹄｢｣]"
)
_SENTENCE_END: Final = re.compile(r"[.!?…][\"”“’»«)\]]*\s+(?=[\"“„»«(\[]*[A-ZÄÖÜ0-9])|\n+")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:S|p|pp|No|Nr|Art|Abs|ca|vgl|bzw|etc|Dr|Mr|Mrs|Ms|St|Str|z|B|u|a|d|h|e|g|i|approx)"
    r"|\b\d{1,3})\.$"
)
_WORD: Final = re.compile(r"\w+")
_PLAIN_WORD: Final = re.compile(r"[^\W_]+")
"""A word without marks of emphasis, such as the underscore."""
_TRIES: Final = 20
"""The most places in a source that are tried for one sign."""
_LEAST_WORDS: Final = 4
"""The fewest words of a sentence that may need a source; “Yes, it does.” needs none."""


@dataclass(frozen=True)
class MarkedPart:
    """A marked part of a read text.

    Attributes:
        start: Index of its first character.
        end: Index after its last character.
        quote: See `Span`.
    """

    start: int
    end: int
    mark: Mark
    quote: int = 0


def read_text(blocks: Sequence[Block]) -> str:
    """Return the words of blocks as a person reads them."""
    return _BETWEEN_BLOCKS.join(map(_text_of, blocks))


def sentences(blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence in the read text; headings and tables have none."""
    start = 0
    for block in blocks:
        text = _text_of(block)
        if isinstance(block, Paragraph) and not block.heading:
            before = len(_before(block))
            for begin, end in _sentences_of(text[before:]):
                if len(_WORD.findall(text, before + begin, before + end)) >= _LEAST_WORDS:
                    yield start + before + begin, start + before + end
        start += len(text) + len(_BETWEEN_BLOCKS)


def marked(blocks: Sequence[Block], marks: Sequence[MarkedPart]) -> tuple[Block, ...]:
    """Lay marks over blocks; if two overlap, the earlier one in the sequence wins."""
    marked_blocks: list[Block] = []
    start = 0
    for block in blocks:
        length = len(_text_of(block))
        overlapping = [mark for mark in marks if mark.start < start + length and mark.end > start]
        marked_blocks.append(_with_marks(block, start, overlapping) if overlapping else block)
        start += length + len(_BETWEEN_BLOCKS)
    return tuple(marked_blocks)


@dataclass(frozen=True)
class Sign:
    """A text to put after a part of a read text that is a quote."""

    start: int
    end: int
    text: str


def with_signs(source: str, signs: Sequence[Sign], parse: Callable[[str], Sequence[Block]]) -> str:
    """Insert signs into the source of a text, each after its part of the read text.

    A sign whose place in the source cannot be found is left out.

    Args:
        source: The markdown.
        signs: The signs, placed in the read text.
        parse: Parses the markdown into blocks.
    """
    read_so_far, last_position, inserted = read_text(parse(source)), 0, 0
    for sign in signs:
        start, end = sign.start + inserted, sign.end + inserted
        expected = read_so_far[:end] + sign.text + read_so_far[end:]
        pattern = _in_source(read_so_far[start:end])
        positions = sorted(
            (match.end() for match in pattern.finditer(source)),
            key=lambda position: position <= last_position,
        )
        for position in positions[:_TRIES]:
            tried = source[:position] + sign.text + source[position:]
            if read_text(parse(tried)) == expected:
                source, read_so_far = tried, expected
                last_position, inserted = position, inserted + len(sign.text)
                break
    return source


def _in_source(part: str) -> re.Pattern[str]:
    """Return a pattern for a part of a read text, allowing marks (of emphasis) between words."""
    between = r"[\W_]+?".join(map(re.escape, _PLAIN_WORD.findall(part)))
    first = "" if _PLAIN_WORD.match(part[0]) else re.escape(part[0]) + r"[\W_]*?"
    last = "" if _PLAIN_WORD.match(part[-1]) else r"[\W_]*?" + re.escape(part[-1])
    return re.compile(f"{first}{between}{last}")


def _text_of(block: Block) -> str:
    runs = _runs(block)
    if not runs:
        return _NO_WORDS
    texts = ["".join(map(_words, run)) for run in runs]
    columns = _columns(block)
    rows = (texts[at : at + columns] for at in range(0, len(texts), columns))
    return _before(block) + _BETWEEN_ROWS.join(map(_BETWEEN_CELLS.join, rows))


def _before(block: Block) -> str:
    """Return the prefix of a block in a quotation; "" for any other."""
    return _QUOTED if isinstance(block, Paragraph) and block.place.quote else ""


def _columns(block: Block) -> int:
    return len(block.align) if isinstance(block, Table) else 1


def _runs(block: Block) -> tuple[tuple[Span, ...], ...]:
    """Return the spans of each text in a block."""
    if isinstance(block, Paragraph):
        return (block.spans,)
    if isinstance(block, Table):
        return tuple(cell for row in block.rows for cell in row)
    return ()


def _words(span: Span) -> str:
    """Return the words of a span; none for the number of a footnote, which is not read aloud."""
    if span.note:
        return ""
    if span.math or span.picture:
        return _NO_WORDS * len(span.text)
    text = span.text.replace(LINE_BREAK, "\n")
    return _QUOTATION_MARKS.sub(_NO_WORDS, text) if span.code else text


def _with_marks(block: Block, start: int, marks: Sequence[MarkedPart]) -> Block:
    runs = []
    start += len(_before(block))
    for run in _runs(block):
        spans: list[Span] = []
        for span in run:
            spans += _cut(span, start, marks)
            start += len(_words(span))
        runs.append(tuple(spans))
        start += len(_BETWEEN_CELLS)
    if isinstance(block, Paragraph):
        return replace(block, spans=runs[0])
    if isinstance(block, Table):
        columns = len(block.align)
        rows = (tuple(runs[at : at + columns]) for at in range(0, len(runs), columns))
        return replace(block, rows=tuple(rows))
    return block


def _cut(span: Span, start: int, marks: Sequence[MarkedPart]) -> Iterator[Span]:
    """Split a span that begins at `start` at the ends of the marks."""
    end = start + len(_words(span))
    overlapping = [mark for mark in marks if mark.start < end and mark.end > start]
    if not overlapping or span.math or span.picture:
        yield span
        return
    cuts = {start, end}
    cuts.update(at for mark in overlapping for at in (mark.start, mark.end) if start < at < end)
    order = sorted(cuts)
    for begin, until in pairwise(order):
        piece = replace(span, text=span.text[begin - start : until - start])
        covering = next(
            (mark for mark in overlapping if mark.start <= begin and until <= mark.end), None
        )
        if covering is not None:
            piece = replace(
                piece, mark=covering.mark, quote=covering.quote, ends=until == covering.end
            )
        yield piece


def _sentences_of(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end_match in _SENTENCE_END.finditer(text):
        before = text[start : end_match.start() + 1]
        if not end_match[0].startswith("\n") and _ABBREVIATED.search(before):
            continue
        yield start, len(text[: end_match.end()].rstrip())
        start = end_match.end()
    if text[start:].strip():
        yield start, len(text.rstrip())
