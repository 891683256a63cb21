"""A bar of coloured parts, with a legend below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.kit.look.theme import theme_of
from app.kit.widgets.legend import Legend

_HEIGHT = 14
_GAP = 2
"""Pixels between two parts, so that they can be told apart without their colours."""

COLOURS = (
    "use_weights", "use_context", "use_drafter", "use_compute", "use_projector", "use_others",
)  # fmt: skip
"""The colours of the theme, in the order in which the parts use them."""


@dataclass(frozen=True)
class BarPart:
    """A part of a bar.

    Attributes:
        words: The text in the legend.
        amount: The amount, in any unit that all parts share.
    """

    words: str
    amount: int


class ShareBar(QWidget):
    """A bar of parts with a legend; parts beyond the number of colours share the last colour.

    Args:
        name: The object name of the bar.
        title: The accessible name of the bar.
        parts: The parts, from the left; see `limited`.
        whole: The amount that fills the bar; by default that of all parts.
    """

    def __init__(
        self,
        name: str,
        title: str,
        parts: Sequence[BarPart],
        *,
        whole: int = 0,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        spoken = ", ".join(part.words for part in parts)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        amounts = [part.amount for part in parts]
        strip = _Strip(amounts, max(1, whole, sum(amounts)))
        strip.setObjectName(name)
        strip.setAccessibleName(title)
        strip.setAccessibleDescription(spoken)
        strip.setToolTip(spoken)
        column.addWidget(strip)
        column.addWidget(
            Legend([(_colour(number), part.words) for number, part in enumerate(parts)])
        )


class _Strip(QWidget):
    def __init__(self, amounts: Sequence[int], whole: int) -> None:
        super().__init__()
        self._amounts = tuple(amounts)
        self._whole = whole
        self.setFixedHeight(_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = theme_of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect())
        outline = QPainterPath()
        outline.addRoundedRect(whole, 5, 5)
        painter.setClipPath(outline)
        painter.fillRect(whole, QColor(theme.hover))
        scale = whole.width() / self._whole
        left = 0.0
        for number, amount in enumerate(self._amounts):
            drawn = QRectF(left, 0, max(2.0, amount * scale - _GAP), whole.height())
            painter.fillRect(drawn, QColor(getattr(theme, _colour(number))))
            left += amount * scale
        painter.end()


def _colour(number: int) -> str:
    return COLOURS[min(number, len(COLOURS) - 1)]


def limited(parts: Sequence[BarPart], others: str) -> list[BarPart]:
    """Sort parts, largest first, and merge the smallest if there are more parts than colours.

    Args:
        parts: The parts.
        others: The text for the merged part; {count} is the number of parts in it.
    """
    ordered = sorted(parts, key=lambda part: -part.amount)
    if len(ordered) <= len(COLOURS):
        return ordered
    shown, rest = ordered[: len(COLOURS) - 1], ordered[len(COLOURS) - 1 :]
    return [*shown, BarPart(others.format(count=len(rest)), sum(part.amount for part in rest))]
