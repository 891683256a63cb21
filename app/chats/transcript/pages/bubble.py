"""The bubble of the user's message, as wide as its text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.kit.look.format import figure
from app.kit.look.scale import FITS_ITSELF, scaled
from app.kit.text.long_lines import cut
from app.kit.text.markdown_view import MarkdownView
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.markdown.blocks import BlockPlace, Paragraph, Span
from app.markdown.local_files import pictures_in
from app.markdown.parser import Parser
from app.markdown.spans import LINE_BREAK

_SHARE = 0.82
_FIRST, _MOST = 20_000, 1_000_000
"""The most characters that are shown at first, and once the message is unfolded."""
_PARAGRAPH = 4_000
"""The number of characters from which a paragraph ends with its line."""
_LONG, _SHOWN = 440, 260
"""The height in pixels from which a question counts as long, and the part of it that is shown."""


class Bubble(QWidget):
    """The bubble of the user's message.

    The text is shown as it was written, because a question is not markdown. Pictures that it names
    follow it. Of a long question only the beginning is shown until the user unfolds it.
    """

    def __init__(
        self, text: str, parser: Parser, text_size: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._words = (self.tr("Show all"), self.tr("Show less"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        self._panel = Panel("bubble", "bubble", margins=(2, 1.25, 2, 0.75))
        self.view = MarkdownView(parser, text_size)
        self.view.drawn.connect(self._fit)
        self._part = QWidget()
        self._part.setProperty(FITS_ITSELF, True)
        part_layout = QVBoxLayout(self._part)
        part_layout.setContentsMargins(0, 0, 0, 0)
        part_layout.addWidget(self.view, 0, Qt.AlignmentFlag.AlignTop)
        self._all = LabelledButton("down", self._words[0], "showAll", look="link")
        self._all.setCheckable(True)
        self._all.toggled.connect(self._fold)
        words = self.tr("The message goes on. Copying it takes all {count} characters.")
        self._note = Label(
            words.format(count=figure(len(text))), "small", name="messageGoesOn", wrap=True
        )
        self._note.hide()
        self._panel.box.addWidget(self._part)
        self._panel.box.addWidget(self._note)
        self._panel.box.addWidget(self._all, 0, Qt.AlignmentFlag.AlignLeft)
        row.addWidget(self._panel)
        self._text = text
        self._shown = 0
        self._pictures = tuple(Span("", picture=path) for path in pictures_in(text))
        self._show(_FIRST)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the text into the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _fit(self) -> None:
        """Give the text the width of its longest line, up to a share of the column."""
        margins = self._panel.box.contentsMargins()
        max_width = int(self.width() * _SHARE) - margins.left() - margins.right()
        if max_width > 0:
            document = self.view.document()
            document.setTextWidth(max_width)
            self.view.setFixedWidth(min(max_width, math.ceil(document.idealWidth()) + 1))
            document.setTextWidth(self.view.width())
        self._fold()

    def _show(self, count: int) -> None:
        """Show so many characters of the message, in paragraphs that are laid out one by one."""
        self._shown = min(count, len(self._text))
        paragraphs = [
            Paragraph((Span(part),), place=BlockPlace(tight=number > 0))
            for number, part in enumerate(_parts(self._text[: self._shown]))
        ]
        if self._shown == len(self._text):
            last = paragraphs[-1]
            paragraphs[-1] = replace(last, spans=(*last.spans, *self._pictures))
        self.view.show_blocks(paragraphs)

    def unfold(self) -> None:
        """Show the whole message."""
        self._all.setChecked(True)

    def _fold(self) -> None:
        """Show the beginning or the whole message; a short message has no button for that."""
        unfolded = self._all.isChecked()
        left = len(self._text) - self._shown
        if unfolded and left and self._shown < _MOST:
            self._show(_MOST)
            return  # the new text has been fitted and folded
        self._note.setVisible(unfolded and left > 0)
        is_long = self.view.height() > scaled(_LONG) or left > 0
        self._all.setVisible(is_long)
        self._all.redraw("up" if unfolded else "down", self._words[unfolded])
        self._part.setFixedHeight(
            scaled(_SHOWN) if is_long and not unfolded else self.view.height()
        )


def _parts(text: str) -> Iterator[str]:
    """Yield the text in parts that end with a line, and are short enough to be laid out."""
    part: list[str] = []
    length = 0
    for line in cut(text).split("\n"):
        if part and length + len(line) > _PARAGRAPH:
            yield LINE_BREAK.join(part)
            part, length = [], 0
        part.append(line)
        length += len(line)
    yield LINE_BREAK.join(part)
