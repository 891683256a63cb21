"""Syntax colours for code blocks, a few lines at a time, so that long blocks never block the UI."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QTextBlock, QTextDocument, QTextLayout

from app.kit.text.document_writer import WrittenCode
from app.kit.text.formats import CODE_ID, TextFormats
from app.kit.text.long_lines import cut
from app.markdown.highlight import Piece, highlight

_BUDGET_S = 0.006


@dataclass
class _Work:
    code_id: int
    block: QTextBlock
    lines: Iterator[tuple[Piece, ...]]


class CodeColours(QObject):
    """The syntax colours of a document, set as formats of its layout; the text is not changed."""

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._formats: TextFormats | None = None
        self._work: deque[_Work] = deque()
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._colour_some)

    def restyle(self, formats: TextFormats) -> None:
        """Use new formats and drop all pending work: all code is about to be written again."""
        self._formats = formats
        self._work.clear()

    def colour(self, written: WrittenCode) -> None:
        """Start to colour a code block."""
        first = self._document.findBlockByNumber(written.line + 1)
        code = written.code
        self._work.append(_Work(written.id, first, highlight(cut(code.text), code.language)))
        self._timer.start()

    def _colour_some(self) -> None:
        until = time.perf_counter() + _BUDGET_S
        while self._work and time.perf_counter() < until:
            work = self._work[0]
            pieces = next(work.lines, None)
            if pieces is None or not self._colour_line(work.block, work.code_id, pieces):
                self._work.popleft()
            else:
                work.block = work.block.next()
        if not self._work:
            self._timer.stop()

    def _colour_line(self, block: QTextBlock, code_id: int, pieces: tuple[Piece, ...]) -> bool:
        """Colour one line.

        Returns:
            False if the line was rewritten in the meantime.
        """
        if not block.isValid() or block.blockFormat().intProperty(CODE_ID) != code_id:
            return False
        if pieces and self._formats:
            line = block.text()
            ranges = []
            for start, length, kind in pieces:
                piece = QTextLayout.FormatRange()
                piece.start = _utf16(line, start)
                piece.length = _utf16(line, start + length) - _utf16(line, start)
                piece.format = self._formats.colour(kind)
                ranges.append(piece)
            block.layout().setFormats(ranges)
            self._document.markContentsDirty(block.position(), block.length())
        return True


def _utf16(line: str, index: int) -> int:
    """Convert an index into a line to Qt's: characters beyond the first 65,536 count as two."""
    return index if line.isascii() else len(line[:index].encode("utf-16-le")) // 2
