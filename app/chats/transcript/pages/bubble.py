"""The bubble of the user's message, as wide as its text."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.kit.look.scale import FITS_ITSELF, scaled
from app.kit.text.markdown_view import MarkdownView
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.markdown.blocks import Paragraph, Span
from app.markdown.local_files import pictures_in
from app.markdown.parser import Parser
from app.markdown.spans import LINE_BREAK

_SHARE = 0.82
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
        self._panel.box.addWidget(self._part)
        self._panel.box.addWidget(self._all, 0, Qt.AlignmentFlag.AlignLeft)
        row.addWidget(self._panel)
        pictures = (Span("", picture=path) for path in pictures_in(text))
        self.view.show_blocks((Paragraph((Span(text.replace("\n", LINE_BREAK)), *pictures)),))

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

    def unfold(self) -> None:
        """Show the whole message."""
        self._all.setChecked(True)

    def _fold(self) -> None:
        """Show the beginning or the whole message; a short message has no button for that."""
        is_long = self.view.height() > scaled(_LONG)
        unfolded = self._all.isChecked()
        self._all.setVisible(is_long)
        self._all.redraw("up" if unfolded else "down", self._words[unfolded])
        self._part.setFixedHeight(
            scaled(_SHOWN) if is_long and not unfolded else self.view.height()
        )
