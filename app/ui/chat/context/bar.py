"""The context as a strip: what takes how much of it, and what is still free."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.chats.budget import ContextUse
from app.ui.look.format import figure
from app.ui.look.theme import theme_of
from app.ui.widgets.legend import Legend

_HEIGHT = 14
_GAP = 2
"""Pixels between two parts, so that they are told apart without their colours."""


class ContextBar(QWidget):
    """Made anew for another use: its legend has other entries then."""

    def __init__(self, use: ContextUse, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        parts = [part for part in self._parts(use) if part[1]]
        words = [f"{name} {figure(tokens)}" for name, tokens, _ in parts]
        strip = _Strip([(tokens, colour) for _, tokens, colour in parts], use.context)
        strip.setObjectName("contextStrip")
        strip.setAccessibleName(self.tr("What takes the context"))
        strip.setAccessibleDescription(", ".join(words))
        column.addWidget(strip)
        colours = [colour for _, _, colour in parts]
        column.addWidget(Legend(list(zip(colours, words, strict=True))))

    def _parts(self, use: ContextUse) -> list[tuple[str, int, str]]:
        """Words, tokens, and the colour of the theme."""
        pinned = sum(it.tokens for it in use.parts if it.pinned and it.place == "message")
        said = use.tokens_of("message") - pinned
        return [
            (self.tr("System prompt"), use.tokens_of("system"), "use_compute"),
            (self.tr("Summary"), use.tokens_of("summary"), "use_projector"),
            (self.tr("Pinned"), pinned, "use_drafter"),
            (self.tr("Messages"), said, "use_context"),
            (self.tr("New message"), use.tokens_of("draft"), "use_weights"),
            (self.tr("Kept for the answer"), use.kept, "use_others"),
        ]


class _Strip(QWidget):
    """amounts: with the names of their colours; what is missing of `whole` is free."""

    def __init__(self, amounts: list[tuple[int, str]], whole: int) -> None:
        super().__init__()
        self._amounts = amounts
        self._whole = max(whole, sum(amount for amount, _ in amounts), 1)
        self.setFixedHeight(_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = theme_of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), 5, 5)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), QColor(theme.hover))
        left = 0.0
        for amount, colour in self._amounts:
            wide = amount * self.width() / self._whole
            drawn = QRectF(left, 0, max(2.0, wide - _GAP), self.height())
            painter.fillRect(drawn, QColor(getattr(theme, colour)))
            left += wide
        painter.end()
