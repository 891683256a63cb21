"""The widget of one text in a chat: markdown, whole or as it arrives, as tall as its content."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import (
    QByteArray,
    QEvent,
    QMimeData,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    QUrl,
    Signal,
)
from PySide6.QtGui import QHelpEvent, QImage, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QToolTip, QWidget

from app.kit.look.scale import FITS_ITSELF
from app.kit.look.theme import theme_of
from app.kit.text.code_buttons import CodeButtons
from app.kit.text.code_colours import CodeColours
from app.kit.text.decorations import paint_decorations
from app.kit.text.document_writer import DocumentWriter, WrittenCode
from app.kit.text.drawing import PictureRequest
from app.kit.text.formats import CODE_PAD, QUOTE, TextFormats
from app.kit.text.selected_text import anchor_height, plain_text, scroll_to
from app.markdown.blocks import Block
from app.markdown.parser import Parser
from app.markdown.reading import MarkedPart, marked
from app.markdown.splitter import StreamSplitter

SHORTEST_S = 0.033
_CALM_S = 0.1
"""The longest interval in seconds at which growing text still looks fluid."""
_SHARE = 32.0
"""Drawing takes 1/32 of the time, as long as the interval stays below `_CALM_S`."""
_MOST = 4.0
"""Drawing never takes more than 1/4 of the time."""
_SMOOTHING = 0.3


class Pace:
    """The pace of drawing: the more a drawing costs, the longer the interval. Times in seconds."""

    def __init__(self) -> None:
        self._cost = 0.0

    def record(self, cost: float) -> None:
        """Record the time that one drawing took."""
        self._cost += _SMOOTHING * (cost - self._cost)

    @property
    def interval(self) -> float:
        """The time between the starts of two drawings."""
        return max(SHORTEST_S, min(_CALM_S, _SHARE * self._cost), _MOST * self._cost)


AT_ONCE = 1500
"""The maximum number of characters in one drawing; more would block the event loop too long."""
_GATHER_MS = 40
"""How long pictures are collected before they are inserted together, in milliseconds."""
_FAR = 1 << 24
"""A number of pixels that is larger than any text."""


class MarkdownView(QTextBrowser):
    """A text of a chat, shown as markdown.

    It never loads anything: links only emit a signal, and pictures come through `put`.

    Args:
        parser: Parses the markdown.
        text_size: The size of plain text in pixels.
        wrap: Whether long lines of code are broken; otherwise the user scrolls sideways.
        saves: Whether code blocks have a button that saves them as a file.

    Signals:
        link(address): The user clicked a link.
        wanted(view): The text is complete, and `missing` returns the pictures that it needs.
        copied(): The user copied a code block.
        save(code): The user wants to save a code block as a file.
        drawn(): The text was drawn, perhaps only a part of it.
        completed(): The whole text is shown.
        quote(number): The user clicked a checked quote.
    """

    link = Signal(str)
    wanted = Signal(object)
    copied = Signal()
    save = Signal(object)
    drawn = Signal()
    completed = Signal()
    quote = Signal(int)

    def __init__(
        self,
        parser: Parser,
        text_size: int,
        parent: QWidget | None = None,
        *,
        wrap: bool = True,
        saves: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setProperty(FITS_ITSELF, True)
        self._parser = parser
        self._formats = TextFormats(theme_of(self.palette()), text_size, wrap)
        self._stream: StreamSplitter | None = None
        self._waiting = ""
        self._ending = False
        self.pace = Pace()
        self._drawn_at = self._painted = 0.0
        self._unpainted = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.draw)
        document = self.document()
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)
        self._colours = CodeColours(document, self)
        self._colours.restyle(self._formats)
        self._writer = DocumentWriter(
            document, self._formats, self._colours.colour, self.devicePixelRatioF()
        )
        self._codes: dict[int, WrittenCode] = {}
        self._plain: tuple[Block, ...] = ()
        self._tips: Mapping[int, str] = {}
        self._drawn_pictures: dict[PictureRequest, QImage | None] = {}
        self._gather = QTimer(self)
        self._gather.setSingleShot(True)
        self._gather.timeout.connect(self._put_pictures)
        self._buttons = CodeButtons(self, saves=saves)
        self._buttons.save.connect(self.save)
        self._buttons.copied.connect(self.copied)
        for part in (self, self.viewport()):
            # as the text grows, the text above does not move and need not be painted again
            part.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.anchorClicked.connect(self._follow)
        document.documentLayout().documentSizeChanged.connect(self._fit)
        self.horizontalScrollBar().rangeChanged.connect(self._fit)

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Show blocks, all at once."""
        self._stream = None
        self._waiting = ""
        self._writer.show(blocks)
        self._after_drawing()
        self._complete()

    def show_markdown(self, text: str) -> None:
        """Show a whole text; the rest of a long one follows in later turns of the event loop."""
        self.begin(text)
        self.end()

    def begin(self, text: str = "") -> None:
        """Start to show a growing text, with the part that has arrived so far."""
        self._timer.stop()
        self._writer.show(())
        self._stream = StreamSplitter(self._parser)
        self._waiting = text
        self._ending = False
        self.draw()

    def append(self, text: str) -> None:
        """Add text; it is drawn at once, or soon together with later text."""
        self._waiting += text
        self._draw_soon()

    def end(self) -> None:
        """Complete the text."""
        self._ending = True
        self._timer.stop()
        self.draw()

    @property
    def is_complete(self) -> bool:
        """True if the whole text is shown."""
        return self._stream is None

    @property
    def code_blocks(self) -> tuple[WrittenCode, ...]:
        """The blocks of code, from top to bottom."""
        return tuple(self._codes.values())

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of a complete text, without marks; empty while the text grows."""
        return self._plain if self.is_complete else ()

    def mark(self, marks: Sequence[MarkedPart], tips: Mapping[int, str]) -> None:
        """Mark parts of the text.

        Args:
            marks: The marks.
            tips: The tooltips of the quotes, by their numbers.
        """
        self._tips = tips
        self._writer.show(marked(self._plain, marks))
        self.viewport().update()
        self._after_drawing()
        self._request_pictures()

    def missing(self) -> tuple[PictureRequest, ...]:
        """Return the pictures that the text still waits for."""
        return self._writer.missing()

    def put(self, request: PictureRequest, image: QImage | None) -> None:
        """Give the text a picture that it waits for; None if it could not be drawn."""
        self._drawn_pictures[request] = image
        if not self._gather.isActive():
            self._gather.start(_GATHER_MS)

    def set_text_size(self, pixels: int) -> None:
        """Set the size of plain text, and write the text again if it changed."""
        if pixels != self._formats.size:
            self._restyle(replace(self._formats, size=pixels))

    def set_wrap(self, wrap: bool) -> None:
        """Set whether long lines of code are broken, and write the text again if it changed."""
        if wrap != self._formats.wrap:
            self._restyle(replace(self._formats, wrap=wrap))

    def minimumSizeHint(self) -> QSize:
        """Return no minimum, as the height is fixed to that of the text."""
        return QSize(0, 0)

    def loadResource(self, kind: int, name: QUrl | str) -> object:  # noqa: ARG002 - nothing loads
        """Return no data, so that the view never loads anything."""
        return QByteArray()  # not None: Qt would then read a file of this name itself

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selection as plain text, with the sources of pictures."""
        data = QMimeData()
        data.setText(plain_text(self.textCursor()))
        return data

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll a wide table sideways; leave other scrolling to the transcript."""
        sideways = abs(event.angleDelta().x()) > abs(event.angleDelta().y())
        if sideways and self.horizontalScrollBar().maximum() > 0:
            super().wheelEvent(event)
        else:
            event.ignore()  # scrolls the transcript, not the message

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the buttons of the code blocks to the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._buttons.place()
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the decorations and the text, and measure the time for `pace`."""
        began = time.perf_counter()
        paint_decorations(self, self._formats, QRectF(event.rect()), self._codes)
        super().paintEvent(event)
        if self._unpainted:
            self._painted = time.perf_counter() - began
            self._unpainted = False

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the tooltip of a checked quote under the pointer."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            tip = self._tips.get(_quote_in(self.anchorAt(event.pos())))
            if tip:
                QToolTip.showText(event.globalPos(), tip, self)
                return True
        return super().viewportEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Write the text again in the colours of a new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            theme = theme_of(self.palette())
            if theme != self._formats.theme:
                self._restyle(replace(self._formats, theme=theme))

    def _draw_soon(self) -> None:
        if not self._timer.isActive():
            since = time.perf_counter() - self._drawn_at
            self._timer.start(max(0, math.ceil((self.pace.interval - since) * 1000)))

    def draw(self) -> None:
        """Draw the next part of the pending text, not so much that it blocks the window."""
        if self._stream is None:
            return
        self._drawn_at = time.perf_counter()
        text, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
        if text:
            update = self._stream.feed(text)
            changed = self._writer.tail_top
            self._writer.update(update.settled, update.tail)
            # Qt paints changed text again, but not the cards around it
            self.viewport().update(QRect(0, int(changed) - 3 * CODE_PAD, _FAR, _FAR))
            self._after_drawing()
            # Includes the painting of the last drawing, which took place in a later turn of the
            # event loop. Other painting, such as for scrolling, does not count.
            self.pace.record(time.perf_counter() - self._drawn_at + self._painted)
            self._painted, self._unpainted = 0.0, True
        if self._waiting:
            self._draw_soon()
        elif self._ending:
            blocks = self._stream.finish()
            self._stream = None
            if blocks is not None:
                self._writer.show(blocks)
                self.viewport().update()
                self._after_drawing()
            self._complete()

    def _complete(self) -> None:
        self._plain = self._writer.blocks
        self._request_pictures()
        self.completed.emit()

    def _request_pictures(self) -> None:
        """Ask for pictures in the next turn of the event loop: no receiver may be connected yet."""
        if self._writer.missing():
            QTimer.singleShot(0, self, lambda: self.wanted.emit(self))

    def _put_pictures(self) -> None:
        pictures, self._drawn_pictures = self._drawn_pictures, {}
        if self._stream is None:
            self._writer.put(pictures)
            self.viewport().update()
            self._after_drawing()

    def _after_drawing(self) -> None:
        codes = self._writer.code_blocks()
        self._codes = {code.id: code for code in codes}
        self._buttons.show_for(codes)
        self.drawn.emit()

    def _restyle(self, formats: TextFormats) -> None:
        self._formats = formats
        self._colours.restyle(formats)
        self._writer.restyle(formats, self.devicePixelRatioF())
        self._after_drawing()
        if self._stream is None:
            self._request_pictures()

    def _follow(self, address: QUrl) -> None:
        if address.hasFragment() and not address.scheme() and not address.path():
            scroll_to(self, anchor_height(self.document(), address.fragment()))
        elif number := _quote_in(address.toString()):
            self.quote.emit(number)
        else:
            self.link.emit(address.toString())

    def _fit(self) -> None:
        height = math.ceil(self.document().size().height()) + self._writer.room_below
        bar = self.horizontalScrollBar()
        if bar.maximum() > 0:  # a table is wider than the page
            height += bar.sizeHint().height()
        if height != self.height():
            self.setFixedHeight(height)


def _quote_in(address: str) -> int:
    """Return the number of the quote in an address, or 0 for another address."""
    scheme, _, number = address.partition(":")
    return int(number) if scheme == QUOTE and number.isdecimal() else 0
