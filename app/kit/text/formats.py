"""The formats of each kind of block and span in a text document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from PySide6.QtCore import QSizeF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QPixmap,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextFrameFormat,
    QTextImageFormat,
    QTextLength,
    QTextOption,
    QTextTableFormat,
)

from app.kit.look.fonts import code_font, text_font
from app.kit.look.icons import pixmap
from app.kit.look.theme import Theme, Tone, colour_of
from app.kit.text.drawing import PictureRequest
from app.markdown.blocks import (
    Align,
    Block,
    BlockPlace,
    Code,
    Formula,
    Mark,
    Paragraph,
    Rule,
    Span,
)
from app.markdown.direction import is_right_to_left
from app.markdown.highlight import Kind

CODE_ID = QTextFormat.Property.UserProperty.value + 1
QUOTES = QTextFormat.Property.UserProperty.value + 2
IS_RULE = QTextFormat.Property.UserProperty.value + 3
"""Properties of blocks that tell the view which decoration to paint behind them."""
IS_ISOLATE = QTextFormat.Property.UserProperty.value + 4
"""The property of characters that only mark the ends of a run with another direction."""
LEFT_TO_RIGHT, END_OF_RUN = "\u2066", "\u2069"

CODE_PAD = 14
QUOTE_STEP = 18
DEEPEST = 8
"""The maximum number of indented levels of lists or quotations; more would leave no room."""
_ALIGN = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}
_SHORT_HEADING = 24
"""The maximum number of characters of a table heading that is kept on one line."""
PictureKind = Literal["file", "inline", "display"]
QUOTE = "quote"
"""The scheme of addresses of checked quotes; the number of the quote follows it."""

VERDICTS: dict[str, tuple[str, Tone]] = {
    "found": ("check", "good"),
    "place_unchecked": ("help", "muted"),
    "elsewhere": ("elsewhere", "warn"),
    "not_found": ("close", "danger"),
}
"""The icon of each verdict on a quote, and its tone."""
_LINES: dict[str, tuple[QTextCharFormat.UnderlineStyle, Tone]] = {
    "found": (QTextCharFormat.UnderlineStyle.SingleUnderline, "good"),
    "place_unchecked": (QTextCharFormat.UnderlineStyle.DashDotLine, "muted"),
    "elsewhere": (QTextCharFormat.UnderlineStyle.DashUnderline, "warn"),
    "not_found": (QTextCharFormat.UnderlineStyle.WaveUnderline, "danger"),
    "uncited": (QTextCharFormat.UnderlineStyle.DotLine, "muted"),
}
_HEADINGS = (1.0, 1.5, 1.3, 1.15, 1.05, 1.0, 1.0)


@dataclass(frozen=True)
class TextFormats:
    """The text formats of a theme.

    Attributes:
        theme: The theme.
        size: The size of plain text in pixels.
        wrap: Whether long lines of code are broken.
    """

    theme: Theme
    size: int
    wrap: bool = True

    @property
    def step(self) -> float:
        """The indent of one level of lists, in pixels."""
        return self.size * 1.75

    @cached_property
    def text(self) -> QTextCharFormat:
        """The format of plain text."""
        return self._format(text_font(self.size), self.theme.text)

    @cached_property
    def code(self) -> QTextCharFormat:
        """The format of text in a code block."""
        return self._format(code_font(self.size - 1), self.theme.text)

    @cached_property
    def code_label(self) -> QTextCharFormat:
        """The format of the label above a code block."""
        return self._format(text_font(max(10, self.size - 2)), self.theme.muted)

    @cached_property
    def _spans(self) -> dict[tuple[bool, bool, bool, bool, Mark, int], QTextCharFormat]:
        """The formats made so far; asking for fonts is the slowest part of writing a text."""
        return {}

    @cached_property
    def _line_gaps(self) -> tuple[float, ...]:
        """The gap between the lines of plain text and of each heading level, in pixels."""
        heights = [
            QFontMetricsF(text_font(round(self.size * factor))).height() for factor in _HEADINGS
        ]
        return (heights[0] * 0.4, *(height * 0.2 for height in heights[1:]))

    def span(self, span: Span, heading: int) -> QTextCharFormat:
        """Return the format of a span; `heading` is the level of its heading, 0 for plain text."""
        if span.href or span.note or span.quote:
            return self._new_span(span, heading)
        key = span.bold, span.italic, span.strike, span.code, span.mark, heading
        if key not in self._spans:
            self._spans[key] = self._new_span(span, heading)
        return self._spans[key]

    def _new_span(self, span: Span, heading: int) -> QTextCharFormat:
        shape = QTextCharFormat(self.text)
        font = text_font(round(self.size * _HEADINGS[heading]))
        if span.code:
            font = code_font(round((self.size - 1) * _HEADINGS[heading]))
            shape.setBackground(QBrush(QColor(self.theme.code)))
        if span.bold or heading:
            font.setWeight(QFont.Weight.DemiBold)
        font.setItalic(span.italic)
        font.setStrikeOut(span.strike)
        shape.setFont(font)
        if span.href:
            self._link(shape, span.href)
            shape.setFontUnderline(True)
        elif span.note:
            self._link(shape, f"#note-{span.note}")
            shape.setAnchorNames([f"reference-{span.note}"])
            shape.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignSuperScript)
        if span.mark:
            self._mark(shape, span)
        return shape

    @cached_property
    def isolate(self) -> QTextCharFormat:
        """The format of the isolates around code inside right-to-left text."""
        shape = QTextCharFormat(self.text)
        shape.setProperty(IS_ISOLATE, True)
        return shape

    def _mark(self, shape: QTextCharFormat, span: Span) -> None:
        """Underline marked words; the kind of line differs as well, not only its colour."""
        line, tone = _LINES[span.mark]
        shape.setUnderlineStyle(line)
        shape.setUnderlineColor(QColor(colour_of(self.theme, tone)))
        if span.mark == "not_found":
            shape.setBackground(QBrush(QColor(self.theme.danger_soft)))
        if span.quote and not span.href:
            shape.setAnchor(True)
            shape.setAnchorHref(f"{QUOTE}:{span.quote}")

    def verdict(self, span: Span, heading: int, ratio: float) -> tuple[QTextImageFormat, QPixmap]:
        """Return the format and the icon that follows a checked quote; copied text leaves it out.

        The name of the image depends only on its look, so a document holds each icon once.
        """
        drawing, tone = VERDICTS[span.mark]
        colour = colour_of(self.theme, tone)
        size = round(self.size * _HEADINGS[heading])
        shape = self.image(
            f"verdict:{drawing}:{colour}:{size}:{ratio}", QSizeF(size, size), "", "inline"
        )
        shape.setAnchor(True)
        shape.setAnchorHref(f"{QUOTE}:{span.quote}")
        return shape, pixmap(drawing, colour, size, ratio)

    def marker(self, place: BlockPlace) -> QTextCharFormat:
        """Return the format of a list marker; that of a footnote links back to its reference."""
        shape = QTextCharFormat(self.text)
        if place.note:
            self._link(shape, f"#reference-{place.note}")
            shape.setAnchorNames([f"note-{place.note}"])
        return shape

    def source(self, kind: PictureKind, heading: int) -> QTextCharFormat:
        """Return the format of the source that is shown until its picture is drawn."""
        shape = self._new_span(Span("", italic=kind == "file"), heading)
        if kind != "file":
            shape.setFont(code_font(round((self.size - 1) * _HEADINGS[heading])))
        shape.setForeground(QBrush(QColor(self.theme.muted)))
        return shape

    def picture_request(
        self, source: str, kind: PictureKind, heading: int, ratio: float
    ) -> PictureRequest:
        """Return the request for a picture in the size and colour of its text."""
        if kind == "file":
            return PictureRequest(source, kind, 0, 0, "", ratio)
        size = round(self.size * _HEADINGS[heading])
        metrics = QFontMetrics(text_font(self.size))
        return PictureRequest(source, kind, size, metrics.xHeight() / 4, self.theme.text, ratio)

    def image(self, name: str, size: QSizeF, words: str, kind: PictureKind) -> QTextImageFormat:
        """Return the format of a picture.

        Args:
            name: The name of the image resource in the document.
            size: The size in pixels of the window.
            words: The text that copies have in its place.
            kind: The kind of picture.
        """
        shape = QTextImageFormat()
        shape.merge(self.text)
        shape.setName(name)
        shape.setWidth(size.width())
        shape.setHeight(size.height())
        shape.setMaximumWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        shape.setProperty(QTextFormat.Property.ImageAltText, words)
        if kind != "file":
            shape.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
        return shape

    def colour(self, kind: Kind) -> QTextCharFormat:
        """Return the format that colours a piece of code of this kind."""
        shape = QTextCharFormat()
        shape.setForeground(QBrush(QColor(getattr(self.theme, f"syntax_{kind}"))))
        return shape

    def block(self, block: Block, before: Block | None) -> QTextBlockFormat:
        """Return the format of a block's first line, given the block above it."""
        shape = QTextBlockFormat()
        self._set_place(shape, block.place)
        shape.setTopMargin(self._gap(block, before))
        if isinstance(block, Formula):
            shape.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        elif isinstance(block, Paragraph):
            if is_right_to_left(block.spans):
                self._mirror(shape)
            distance = QTextBlockFormat.LineHeightTypes.LineDistanceHeight
            shape.setLineHeight(self._line_gaps[block.heading], distance.value)
            shape.setHeadingLevel(block.heading)
        elif isinstance(block, Rule):
            shape.setProperty(IS_RULE, True)
        return shape

    def code_line(self, place: BlockPlace, code_id: int, top: float) -> QTextBlockFormat:
        """Return the format of a line of a code block.

        Args:
            place: The place of the code block.
            code_id: The number of the code block in the document.
            top: The margin above the line in pixels.
        """
        shape = QTextBlockFormat()
        self._set_place(shape, BlockPlace(place.indent, "", place.quote))
        shape.setLeftMargin(shape.leftMargin() + CODE_PAD)
        shape.setRightMargin(CODE_PAD)
        shape.setTopMargin(top)
        shape.setProperty(CODE_ID, code_id)
        shape.setNonBreakableLines(not self.wrap)
        shape.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        proportional = QTextBlockFormat.LineHeightTypes.ProportionalHeight
        shape.setLineHeight(130, proportional.value)
        return shape

    def table(self, place: BlockPlace, columns: int) -> QTextTableFormat:
        """Return the format of a table."""
        shape = QTextTableFormat()
        shape.setBorderCollapse(True)
        shape.setBorder(1)
        shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        shape.setBorderBrush(QBrush(QColor(self.theme.line)))
        shape.setCellPadding(self.size * 0.5)
        shape.setCellSpacing(0)
        shape.setColumns(columns)
        shape.setHeaderRowCount(1)
        shape.setTopMargin(self.size * 0.7)
        shape.setLeftMargin(self._indent(place))
        return shape

    def cell(self, spans: Sequence[Span], align: Align, head: bool) -> QTextBlockFormat:
        """Return the format of a table cell; a short heading stays on one line."""
        shape = QTextBlockFormat()
        shape.setAlignment(_ALIGN[align])
        if is_right_to_left(spans):
            shape.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        if head and sum(len(span.text) for span in spans) <= _SHORT_HEADING:
            shape.setNonBreakableLines(True)
        return shape

    @cached_property
    def _metrics(self) -> QFontMetricsF:
        return QFontMetricsF(text_font(self.size))

    def marker_width(self, marker: str) -> float:
        """Return the width that a list marker takes, with the gap after it, in pixels."""
        needed = self._metrics.horizontalAdvance(marker) + self.size * 0.45
        return max(self.step * 0.8, needed)

    def _indent(self, place: BlockPlace) -> float:
        return min(place.indent, DEEPEST) * self.step + min(place.quote, DEEPEST) * QUOTE_STEP

    def _set_place(self, shape: QTextBlockFormat, place: BlockPlace) -> None:
        shape.setLeftMargin(self._indent(place))
        if place.quote:
            shape.setProperty(QUOTES, min(place.quote, DEEPEST))
        if place.marker:
            width = self.marker_width(place.marker)
            shape.setTextIndent(-width)
            shape.setTabPositions([QTextOption.Tab(width, QTextOption.TabType.LeftTab)])

    def _gap(self, block: Block, before: Block | None) -> float:
        if before is None:
            return 0.0
        if block.place.tight:
            gap = 0.3
        elif isinstance(block, Paragraph) and block.heading:
            gap = 1.3
        else:
            gap = 0.8
        after_code = CODE_PAD if isinstance(before, Code) else 0
        return self.size * gap + after_code

    def _link(self, shape: QTextCharFormat, address: str) -> None:
        shape.setAnchor(True)
        shape.setAnchorHref(address)
        shape.setForeground(QBrush(QColor(self.theme.accent_text)))

    @staticmethod
    def _mirror(shape: QTextBlockFormat) -> None:
        """Mirror a paragraph; Qt itself mirrors the text, its first indent and its alignment."""
        shape.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        right = QTextOption.TabType.RightTab
        tabs = [QTextOption.Tab(tab.position, right) for tab in shape.tabPositions()]
        shape.setTabPositions(tabs)
        shape.setRightMargin(shape.leftMargin())
        shape.setLeftMargin(0)

    @staticmethod
    def _format(font: QFont, colour: str) -> QTextCharFormat:
        shape = QTextCharFormat()
        shape.setFont(font)
        shape.setForeground(QBrush(QColor(colour)))
        return shape
