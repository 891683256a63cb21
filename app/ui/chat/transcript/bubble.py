"""The bubble of the user's message, as wide as it needs to be."""

from __future__ import annotations

import math

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.markdown.blocks import Paragraph, Span
from app.markdown.local_files import pictures_in
from app.markdown.parser import Parser
from app.markdown.spans import LINE_BREAK
from app.ui.chat.text.markdown_view import MarkdownView
from app.ui.widgets.panel import Panel

_SHARE = 0.82


class Bubble(QWidget):
    """Shown as written: a question is not markdown. Pictures that it names stand after it."""

    def __init__(
        self, text: str, parser: Parser, text_size: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        self._panel = Panel("bubble", "bubble", margins=(2, 1.25, 2, 0.75))
        self.view = MarkdownView(parser, text_size)
        self.view.drawn.connect(self._fit)
        self._panel.box.addWidget(self.view)
        row.addWidget(self._panel)
        pictures = (Span("", picture=path) for path in pictures_in(text))
        self.view.show_blocks((Paragraph((Span(text.replace("\n", LINE_BREAK)), *pictures)),))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _fit(self) -> None:
        """Give the text the width of its longest line, up to a share of the column."""
        margins = self._panel.box.contentsMargins()
        most = int(self.width() * _SHARE) - margins.left() - margins.right()
        if most > 0:
            document = self.view.document()
            document.setTextWidth(most)
            self.view.setFixedWidth(min(most, math.ceil(document.idealWidth()) + 1))
            document.setTextWidth(self.view.width())
