"""One text of the chat: shows markdown, whole or as it arrives, as tall as its content."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from app.markdown.blocks import Block
from app.markdown.parser import Parser
from app.markdown.splitter import StreamSplitter
from app.ui.chat.code_buttons import CodeButtons
from app.ui.chat.code_colours import CodeColours
from app.ui.chat.decorations import paint_decorations
from app.ui.chat.document_writer import DocumentWriter
from app.ui.chat.pace import Pace
from app.ui.chat.text_formats import TextFormats
from app.ui.theme import theme_of

_AT_ONCE = 1500
"""Characters; more of them in one drawing would hold up the event loop for too long."""


class MarkdownView(QTextBrowser):
    """link(address): a link was followed. copied(): code was put on the clipboard.

    Nothing is ever loaded from anywhere: pictures do not exist and links only ask.
    """

    link = Signal(str)
    copied = Signal()
    drawn = Signal()

    def __init__(self, parser: Parser, text_size: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parser = parser
        self._formats = TextFormats(theme_of(self.palette()), text_size)
        self._stream: StreamSplitter | None = None
        self._waiting = ""
        self._ending = False
        self._pace = Pace()
        self._drawn_at = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._draw)
        document = self.document()
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)
        self._colours = CodeColours(document, self)
        self._colours.restyle(self._formats)
        self._writer = DocumentWriter(document, self._formats, self._colours.colour)
        self._buttons = CodeButtons(self)
        self._buttons.copied.connect(self.copied)
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.anchorClicked.connect(self._follow)
        document.documentLayout().documentSizeChanged.connect(self._fit)

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Show blocks as they are, all at once."""
        self._stream = None
        self._waiting = ""
        self._writer.show(blocks)
        self._after_drawing()

    def show_markdown(self, text: str) -> None:
        """Show a whole text; of a long one, the end follows in the next turns of the loop."""
        self.begin(text)
        self.end()

    def begin(self, text: str = "") -> None:
        """Start to show a text that grows, with what there is of it."""
        self._timer.stop()
        self._writer.show(())
        self._stream = StreamSplitter(self._parser)
        self._waiting = text
        self._ending = False
        self._draw()

    def append(self, text: str) -> None:
        """More text; it is drawn at once, or with what follows soon."""
        self._waiting += text
        self._draw_soon()

    def end(self) -> None:
        """The text is complete."""
        self._ending = True
        self._timer.stop()
        self._draw()

    def set_text_size(self, pixels: int) -> None:
        if pixels != self._formats.size:
            self._restyle(TextFormats(self._formats.theme, pixels))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def loadResource(self, kind: int, name: QUrl | str) -> object:  # noqa: ARG002 - nothing loads
        return None

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the transcript scrolls, not the message

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._buttons.place()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_decorations(self, self._formats, QRectF(event.rect()))
        super().paintEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            theme = theme_of(self.palette())
            if theme != self._formats.theme:
                self._restyle(TextFormats(theme, self._formats.size))

    def _draw_soon(self) -> None:
        if not self._timer.isActive():
            since = time.perf_counter() - self._drawn_at
            self._timer.start(max(0, math.ceil((self._pace.interval - since) * 1000)))

    def _draw(self) -> None:
        """Draw what waits, but never so much of it that the window would stand still."""
        if self._stream is None:
            return
        self._drawn_at = time.perf_counter()
        text, self._waiting = self._waiting[:_AT_ONCE], self._waiting[_AT_ONCE:]
        if text:
            update = self._stream.feed(text)
            self._writer.update(update.settled, update.tail)
            self._after_drawing()
            self._pace.drew(time.perf_counter() - self._drawn_at)
        if self._waiting:
            self._draw_soon()
        elif self._ending:
            blocks = self._stream.finish()
            self._stream = None
            if blocks is not None:
                self._writer.show(blocks)
                self._after_drawing()

    def _after_drawing(self) -> None:
        self._buttons.show_for(self._writer.code_blocks())
        self.drawn.emit()

    def _restyle(self, formats: TextFormats) -> None:
        self._formats = formats
        self._colours.restyle(formats)
        self._writer.restyle(formats)
        self._after_drawing()

    def _follow(self, address: QUrl) -> None:
        self.link.emit(address.toString())

    def _fit(self) -> None:
        height = math.ceil(self.document().size().height()) + self._writer.room_below
        if height != self.height():
            self.setFixedHeight(height)
        self._buttons.place()
