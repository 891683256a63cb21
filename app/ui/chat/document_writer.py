"""Writes blocks into a text document and rewrites only what has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlockFormat, QTextCursor, QTextDocument

from app.markdown.blocks import Block, Code, Paragraph, Rule, Span, Table
from app.ui.chat.text_formats import CODE_PAD, TextFormats

_ALIGN = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}


@dataclass(frozen=True)
class WrittenCode:
    """A block of code in the document. line: the document's block that its first line is."""

    id: int
    code: Code
    line: int


@dataclass(frozen=True)
class _Written:
    """start: the position from which this block is removed. fresh: an empty line stood there."""

    block: Block
    start: int
    fresh: bool
    code_id: int = 0


class DocumentWriter:
    """Owns the content of one document.

    closed: called with each block of code that is complete, to have it coloured.
    """

    def __init__(
        self, document: QTextDocument, formats: TextFormats, closed: Callable[[WrittenCode], None]
    ) -> None:
        self._document = document
        self._formats = formats
        self._closed = closed
        self._written: list[_Written] = []
        self._settled = 0
        self._fresh = True
        self._ids = count(1)

    def update(self, settled: Sequence[Block], tail: Sequence[Block]) -> None:
        """Append blocks that stay, and after them some that the next update may replace."""
        self._replace(self._settled, [*settled, *tail])
        self._settled += len(settled)

    def show(self, blocks: Sequence[Block]) -> None:
        """Make the document hold these blocks; what is there already is left as it is."""
        self._replace(0, blocks)
        self._settled = len(blocks)

    def restyle(self, formats: TextFormats) -> None:
        """Write everything again in other colours or another size."""
        blocks = [written.block for written in self._written]
        self._formats = formats
        self._edit(lambda: self._rewrite(0, blocks))

    def code_blocks(self) -> list[WrittenCode]:
        return [
            WrittenCode(written.code_id, written.block, self._line_of(written))
            for written in self._written
            if isinstance(written.block, Code)
        ]

    @property
    def room_below(self) -> int:
        """Pixels to leave under the last line, for the card under code reaches beyond it."""
        return CODE_PAD if self._written and isinstance(self._written[-1].block, Code) else 1

    def _line_of(self, written: _Written) -> int:
        """The block number of the label above the code."""
        return self._document.findBlock(written.start + (0 if written.fresh else 1)).blockNumber()

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
        """Append to a block of code that is still being written; whether that was possible."""
        if not (isinstance(old, Code) and isinstance(new, Code)):
            return False
        if old.closed or new.closed or old.language != new.language or not old.text:
            return False
        if not new.text.startswith(old.text):
            return False
        added = new.text[len(old.text) :]
        cursor = self._end()
        self._edit(lambda: cursor.insertText(added, self._formats.code))
        last = self._written[-1]
        self._written[-1] = _Written(new, last.start, last.fresh, last.code_id)
        return True

    def _rewrite(self, index: int, blocks: Sequence[Block]) -> None:
        if index < len(self._written):
            written = self._written[index]
            cursor = QTextCursor(self._document)
            cursor.setPosition(written.start)
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
            if index and isinstance(self._written[index - 1].block, Table):
                cursor.setBlockFormat(QTextBlockFormat())  # Qt let it keep that of what is gone
            self._fresh = written.fresh
            del self._written[index:]
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
                cursor.insertText(f"{block.place.marker}\t", self._formats.text)
            self._insert(cursor, block.spans, block.heading)
        elif isinstance(block, Code):
            self._write_code(cursor, block, before, code_id)
        elif isinstance(block, Table):
            self._write_table(cursor, block, before)
        elif isinstance(block, Rule):
            self._begin(cursor, self._formats.block(block, before))
        self._fresh = False
        written = _Written(block, start, fresh, code_id)
        self._written.append(written)
        if isinstance(block, Code) and block.closed:
            self._closed(WrittenCode(code_id, block, self._line_of(written)))

    def _begin(self, cursor: QTextCursor, shape: QTextBlockFormat) -> None:
        if self._fresh:
            cursor.setBlockFormat(shape)
            cursor.setBlockCharFormat(self._formats.text)
        else:
            cursor.insertBlock(shape, self._formats.text)

    def _insert(self, cursor: QTextCursor, spans: Sequence[Span], heading: int = 0) -> None:
        for span in spans:
            cursor.insertText(span.text, self._formats.span(span, heading))

    def _write_code(
        self, cursor: QTextCursor, block: Code, before: Block | None, code_id: int
    ) -> None:
        top = self._formats.block(block, before).topMargin() + CODE_PAD * 0.7
        self._begin(cursor, self._formats.code_line(block.place, code_id, top))
        cursor.insertText(block.language or "text", self._formats.code_label)
        gap = CODE_PAD * 0.5
        cursor.insertBlock(self._formats.code_line(block.place, code_id, gap), self._formats.code)
        first, _, rest = block.text.partition("\n")
        cursor.insertText(first, self._formats.code)
        if rest or "\n" in block.text:
            cursor.insertBlock(self._formats.code_line(block.place, code_id, 0), self._formats.code)
            cursor.insertText(rest, self._formats.code)

    def _write_table(self, cursor: QTextCursor, block: Table, before: Block | None) -> None:
        self._begin(cursor, self._formats.block(block, before))
        columns = len(block.align)
        table = cursor.insertTable(
            len(block.rows), columns, self._formats.table(block.place, columns)
        )
        for row, cells in enumerate(block.rows):
            for column, spans in enumerate(cells):
                inside = table.cellAt(row, column).firstCursorPosition()
                shape = QTextBlockFormat()
                shape.setAlignment(_ALIGN[block.align[column]])
                inside.setBlockFormat(shape)
                self._insert(inside, spans if row else tuple(_bold(span) for span in spans))

    def _end(self) -> QTextCursor:
        cursor = QTextCursor(self._document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor


def _bold(span: Span) -> Span:
    return Span(span.text, True, span.italic, span.strike, span.code, span.href)
