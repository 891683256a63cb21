"""A writer that puts blocks into a text document and rewrites only those that have changed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QImage, QTextBlockFormat, QTextCursor, QTextDocument

from app.kit.text.drawing import PictureRequest
from app.kit.text.formats import (
    CODE_PAD,
    END_OF_RUN,
    LEFT_TO_RIGHT,
    PictureKind,
    TextFormats,
)
from app.kit.text.long_lines import cut
from app.markdown.blocks import Block, Code, Formula, Paragraph, Rule, Span, Table
from app.markdown.direction import is_right_to_left
from app.markdown.spans import LINE_BREAK

MOST_PICTURES = 300
"""The maximum number of pictures in a text; the sources of later ones stay in the text."""


@dataclass(frozen=True)
class _Gap:
    """A place that holds the source of a picture until the picture is drawn."""

    request: PictureRequest
    start: int
    length: int
    words: str


class SpanWriter:
    """A writer of spans, which keeps the places in the document that wait for pictures.

    Args:
        document: The document.
        formats: Its formats.
        ratio: As in `PictureRequest`.
    """

    def __init__(self, document: QTextDocument, formats: TextFormats, ratio: float) -> None:
        self._document = document
        self._formats = formats
        self._ratio = ratio
        self._gaps: list[_Gap] = []
        self._room = MOST_PICTURES

    def restyle(self, formats: TextFormats, ratio: float) -> None:
        """Use new formats for spans that are inserted from now on."""
        self._formats = formats
        self._ratio = ratio

    def insert(self, cursor: QTextCursor, spans: Sequence[Span], heading: int = 0) -> None:
        """Insert spans; formulas and pictures appear as their sources until they are drawn.

        Args:
            cursor: The place in the document.
            spans: The spans.
            heading: The level of the heading that they belong to; 0 for plain text.
        """
        # Code runs left to right; its characters must not take the direction of the text around.
        isolates = any(span.code for span in spans) and is_right_to_left(spans)
        for span in spans:
            if span.math:
                self._leave_gap(cursor, span.text, span.math, _written(span), heading)
            elif span.picture:
                self._leave_gap(cursor, span.picture, "file", span.text, heading)
            elif span.code and isolates:
                cursor.insertText(LEFT_TO_RIGHT, self._formats.isolate)
                cursor.insertText(span.text, self._formats.span(span, heading))
                cursor.insertText(END_OF_RUN, self._formats.isolate)
            else:
                cursor.insertText(span.text, self._formats.span(span, heading))
            if span.ends and span.quote:
                self._insert_verdict(cursor, span, heading)

    def forget_from(self, position: int) -> None:
        """Forget the pictures from this position on, as that text is about to be removed."""
        self._gaps = [gap for gap in self._gaps if gap.start < position]
        if not position:
            self._room = MOST_PICTURES

    def missing(self) -> tuple[PictureRequest, ...]:
        """Return the pictures that are still missing, each once."""
        return tuple(dict.fromkeys(gap.request for gap in self._gaps[: self._room]))

    def put(self, pictures: Mapping[PictureRequest, QImage | None]) -> Iterator[tuple[int, int]]:
        """Insert pictures in place of their sources.

        Args:
            pictures: The pictures; None for one that could not be drawn, whose source stays.

        Yields:
            The position of each picture, and by how many characters the text became longer.
        """
        moved = 0
        gaps: list[_Gap] = []
        for gap in self._gaps:
            image = pictures.get(gap.request)
            start = gap.start + moved
            if image is not None and self._room:
                self._room -= 1
                self._fill(replace(gap, start=start), image)
                yield start, 1 - gap.length
                moved += 1 - gap.length
            elif gap.request not in pictures:
                gaps.append(replace(gap, start=start))
        self._gaps = gaps

    def _leave_gap(
        self, cursor: QTextCursor, source: str, kind: PictureKind, words: str, heading: int
    ) -> None:
        request = self._formats.picture_request(source, kind, heading, self._ratio)
        start = cursor.position()
        cursor.insertText(words.replace("\n", LINE_BREAK), self._formats.source(kind, heading))
        self._gaps.append(_Gap(request, start, cursor.position() - start, words))

    def _insert_verdict(self, cursor: QTextCursor, span: Span, heading: int) -> None:
        """Insert the icon of its verdict after a quote."""
        shape, picture = self._formats.verdict(span, heading, self._ratio)
        self._document.addResource(
            QTextDocument.ResourceType.ImageResource.value, QUrl(shape.name()), picture
        )
        cursor.insertImage(shape)

    def _fill(self, gap: _Gap, image: QImage) -> None:
        name = f"picture:{hash(gap.request):x}"
        self._document.addResource(
            QTextDocument.ResourceType.ImageResource.value, QUrl(name), image
        )
        cursor = QTextCursor(self._document)
        cursor.setPosition(gap.start)
        cursor.setPosition(gap.start + gap.length, QTextCursor.MoveMode.KeepAnchor)
        size = image.deviceIndependentSize()
        cursor.insertImage(self._formats.image(name, size, gap.words, gap.request.kind))


def _written(span: Span) -> str:
    """Return a formula as markdown writes it."""
    marks = "$" if span.math == "inline" else "$$"
    return f"{marks}{span.text}{marks}"


@dataclass(frozen=True)
class WrittenCode:
    """A code block in the document.

    Attributes:
        id: The number of this code block in the document.
        code: The code block.
        line: The number of its first `QTextBlock`, which holds the label.
        last: The number of its last `QTextBlock`.
    """

    id: int
    code: Code
    line: int
    last: int


@dataclass(frozen=True)
class _Written:
    """A block in the document.

    Attributes:
        block: The block.
        start: The position from which the text is removed to remove this block.
        fresh: Whether the block was written into an empty line that was already there.
        code_id: The number of the code block; 0 for other blocks.
    """

    block: Block
    start: int
    fresh: bool
    code_id: int = 0


class DocumentWriter:
    """The writer of one document's content.

    Args:
        document: The document.
        formats: Its formats.
        closed: Called with each code block that is complete, to colour it.
        ratio: As in `PictureRequest`.
    """

    def __init__(
        self,
        document: QTextDocument,
        formats: TextFormats,
        closed: Callable[[WrittenCode], None],
        ratio: float,
    ) -> None:
        self._document = document
        self._formats = formats
        self._spans = SpanWriter(document, formats, ratio)
        self._closed = closed
        self._written: list[_Written] = []
        self._codes: list[int] = []
        self._settled = 0
        self._fresh = True
        self._ids = count(1)
        self._located: dict[int, WrittenCode] = {}

    def update(self, settled: Sequence[Block], tail: Sequence[Block]) -> None:
        """Append blocks.

        Args:
            settled: Blocks that stay. They replace the tail of the last update.
            tail: Blocks that the next update can replace.
        """
        self._replace(self._settled, [*settled, *tail])
        self._settled += len(settled)

    def show(self, blocks: Sequence[Block]) -> None:
        """Make the document hold exactly these blocks; leading blocks that are equal stay."""
        self._replace(0, blocks)
        self._settled = len(blocks)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks that the document holds."""
        return tuple(written.block for written in self._written)

    def missing(self) -> tuple[PictureRequest, ...]:
        """Return the pictures whose sources are shown until they are drawn."""
        return self._spans.missing()

    def put(self, pictures: Mapping[PictureRequest, QImage | None]) -> None:
        """Replace the sources of pictures with the pictures."""
        self._edit(lambda: self._put(pictures))

    def restyle(self, formats: TextFormats, ratio: float) -> None:
        """Write everything again with new formats."""
        blocks = self.blocks
        self._formats = formats
        self._spans.restyle(formats, ratio)
        self._edit(lambda: self._rewrite(0, blocks))

    def code_blocks(self) -> list[WrittenCode]:
        """Return the code blocks; the places of those above the last block are cached."""
        last = len(self._written) - 1
        codes = []
        for index in self._codes:
            written = self._written[index]
            if isinstance(written.block, Code):
                code = self._located.get(written.code_id) or self._locate(index, written.block)
                if index < last:
                    self._located[written.code_id] = code
                codes.append(code)
        return codes

    @property
    def tail_top(self) -> float:
        """The top of the text that can still change, in pixels."""
        if self._settled >= len(self._written):
            return self._document.size().height()
        block = self._document.findBlock(self._written[self._settled].start)
        return self._document.documentLayout().blockBoundingRect(block).top()

    @property
    def room_below(self) -> int:
        """The room below the last line in pixels; the card under code extends beyond the line."""
        return CODE_PAD if self._written and isinstance(self._written[-1].block, Code) else 1

    def _line_of(self, written: _Written) -> int:
        """Return the number of the `QTextBlock` that holds the label above the code."""
        return self._block_at(written.start + (0 if written.fresh else 1))

    def _locate(self, index: int, code: Code) -> WrittenCode:
        written, last = self._written[index], self._document.blockCount() - 1
        if index + 1 < len(self._written):
            last = self._block_at(self._written[index + 1].start)
        return WrittenCode(written.code_id, code, self._line_of(written), last)

    def _block_at(self, position: int) -> int:
        return self._document.findBlock(position).blockNumber()

    def _put(self, pictures: Mapping[PictureRequest, QImage | None]) -> None:
        self._located.clear()
        index, moved = 0, 0
        for position, longer in self._spans.put(pictures):
            while index < len(self._written) and self._written[index].start + moved <= position:
                self._shift(index, moved)
                index += 1
            moved += longer
        for later in range(index, len(self._written)):
            self._shift(later, moved)

    def _shift(self, index: int, by: int) -> None:
        written = self._written[index]
        self._written[index] = replace(written, start=written.start + by)

    def _replace(self, first: int, blocks: Sequence[Block]) -> None:
        old = [written.block for written in self._written[first:]]
        same = 0
        while same < min(len(old), len(blocks)) and old[same] == blocks[same]:
            same += 1
        if same == len(old) == len(blocks):
            return
        if same == len(old) - 1 == len(blocks) - 1 and self._grow_code(old[same], blocks[same]):
            return
        self._edit(lambda: self._rewrite(first + same, blocks[same:]))

    def _edit(self, change: Callable[[], None]) -> None:
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        change()
        cursor.endEditBlock()

    def _grow_code(self, old: Block, new: Block) -> bool:
        """Append new text to a code block that is not complete.

        Returns:
            False if the new code is not a longer version of the old one.
        """
        if not (isinstance(old, Code) and isinstance(new, Code)):
            return False
        if old.closed or new.closed or old.language != new.language or not old.text:
            return False
        if not new.text.startswith(old.text):
            return False
        cursor = self._end()
        added = cut(new.text[len(old.text) :], cursor.block().length() - 1)
        self._edit(lambda: cursor.insertText(added, self._formats.code))
        last = self._written[-1]
        self._written[-1] = _Written(new, last.start, last.fresh, last.code_id)
        return True

    def _rewrite(self, index: int, blocks: Sequence[Block]) -> None:
        if index < len(self._written):
            written = self._written[index]
            if index == 0:
                self._located.clear()
            self._spans.forget_from(written.start)
            cursor = QTextCursor(self._document)
            cursor.setPosition(written.start)
            above = cursor.blockFormat()
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            if index:  # Qt gave an empty block, such as a rule, the format of the removed one
                cursor.setBlockFormat(above)
            self._fresh = written.fresh
            del self._written[index:]
            del self._codes[bisect_left(self._codes, index) :]
        for block in blocks:
            self._write(block)

    def _write(self, block: Block) -> None:
        before = self._written[-1].block if self._written else None
        cursor = self._end()
        start, fresh = cursor.position(), self._fresh
        code_id = next(self._ids) if isinstance(block, Code) else 0
        if isinstance(block, Paragraph):
            self._begin(cursor, self._formats.block(block, before))
            if block.place.marker:
                marker = self._formats.marker(block.place)
                cursor.insertText(block.place.marker, marker)
                cursor.insertText("\t", self._formats.text)
            self._spans.insert(cursor, block.spans, block.heading)
        elif isinstance(block, Formula):
            self._begin(cursor, self._formats.block(block, before))
            formula = Span(block.text, math="display")
            begun = Span(f"$$\n{block.text}".replace("\n", LINE_BREAK), code=True)
            self._spans.insert(cursor, (formula if block.closed else begun,))
        elif isinstance(block, Code):
            self._write_code(cursor, block, before, code_id)
        elif isinstance(block, Table):
            self._write_table(cursor, block, before)
        elif isinstance(block, Rule):
            self._begin(cursor, self._formats.block(block, before))
        self._fresh = False
        if isinstance(block, Code):
            self._codes.append(len(self._written))
        written = _Written(block, start, fresh, code_id)
        self._written.append(written)
        if isinstance(block, Code) and block.closed:
            last = self._document.blockCount() - 1
            self._closed(WrittenCode(code_id, block, self._line_of(written), last))

    def _begin(self, cursor: QTextCursor, shape: QTextBlockFormat) -> None:
        if self._fresh:
            cursor.setBlockFormat(shape)
            cursor.setBlockCharFormat(self._formats.text)
        else:
            cursor.insertBlock(shape, self._formats.text)

    def _write_code(
        self, cursor: QTextCursor, block: Code, before: Block | None, code_id: int
    ) -> None:
        top = self._formats.block(block, before).topMargin() + CODE_PAD * 0.7
        self._begin(cursor, self._formats.code_line(block.place, code_id, top))
        cursor.insertText(block.name or block.language or "text", self._formats.code_label)
        gap = CODE_PAD * 0.5
        cursor.insertBlock(self._formats.code_line(block.place, code_id, gap), self._formats.code)
        first, newline, rest = cut(block.text).partition("\n")
        cursor.insertText(first, self._formats.code)
        if newline:
            cursor.insertBlock(self._formats.code_line(block.place, code_id, 0), self._formats.code)
            cursor.insertText(rest, self._formats.code)

    def _write_table(self, cursor: QTextCursor, block: Table, before: Block | None) -> None:
        self._begin(cursor, self._formats.block(block, before))
        columns = len(block.align)
        shape = self._formats.table(block.place, columns)
        column_order = list(range(columns))
        if is_right_to_left(span for row in block.rows for cell in row for span in cell):
            column_order.reverse()  # Qt lays out tables only from the left
            shape.setAlignment(Qt.AlignmentFlag.AlignRight)
        table = cursor.insertTable(len(block.rows), columns, shape)
        for row, cells in enumerate(block.rows):
            for place, column in enumerate(column_order):
                spans = cells[column]
                cell_cursor = table.cellAt(row, place).firstCursorPosition()
                cell_cursor.setBlockFormat(self._formats.cell(spans, block.align[column], row == 0))
                self._spans.insert(cell_cursor, spans if row else tuple(map(_bold, spans)))

    def _end(self) -> QTextCursor:
        cursor = QTextCursor(self._document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor


def _bold(span: Span) -> Span:
    return replace(span, bold=True)
