"""A picture of a memory's present and planned use, which shows at a glance whether a model fits."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.kit.look.format import size
from app.kit.look.theme import Theme, theme_of
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.legend import Legend
from app.models.library.values.memory_use import MemoryUse, Use

_HEIGHT = 18
_LEAST = 500_000
"""The fewest bytes that get a colour of their own; less than this is "0 MB"."""
_GAP = 2
"""Pixels between two parts, so that they are distinct without their colours."""


class MemoryBars(QWidget):
    """One bar for each memory, with amounts below it and in the accessible description."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("memoryBars")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(12)

    def show_uses(self, uses: Sequence[MemoryUse]) -> None:
        """Replace the bars; without any memory the widget is hidden."""
        empty(self._column)
        for use in uses:
            self._column.addWidget(_Memory(use))
        self.setVisible(bool(uses))


class _Memory(QWidget):
    def __init__(self, use: MemoryUse) -> None:
        super().__init__()
        title = _title(use)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(Label(title, "small", name="memoryTitle", wrap=True))
        strip = _Strip(use)
        strip.setObjectName(f"memoryBar-{use.place}")
        strip.setAccessibleName(title)
        strip.setAccessibleDescription(spoken(use))
        strip.setToolTip(spoken(use))
        column.addWidget(strip)
        entries = [
            (f"use_{part}", f"{_name(part)} {size(amount)}") for part, amount in _visible_parts(use)
        ]
        column.addWidget(Legend([*entries, _free_or_missing(use)]))


class _Strip(QWidget):
    """The bar itself; a line marks the limit if more is needed than there is."""

    def __init__(self, use: MemoryUse) -> None:
        super().__init__()
        self._use = use
        self.setFixedHeight(_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = theme_of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bar = QRectF(self.rect()).adjusted(0, 2, 0, -2)
        outline = QPainterPath()
        outline.addRoundedRect(bar, 5, 5)
        painter.setClipPath(outline)
        painter.fillRect(bar, QColor(theme.pressed))
        scale = bar.width() / max(1, self._use.limit, self._use.used)
        x = bar.left()
        for part, amount in _visible_parts(self._use):
            width = amount * scale
            drawn = QRectF(x, bar.top(), max(2.0, width - _GAP), bar.height())
            painter.fillRect(drawn, _colour(theme, part))
            x += width
        if self._use.missing:
            self._draw_limit(painter, theme, bar, self._use.limit * scale)
        painter.end()

    def _draw_limit(self, painter: QPainter, theme: Theme, bar: QRectF, at: float) -> None:
        """Draw the limit across the bar, and fade the part beyond it."""
        over = QRectF(at, bar.top(), bar.right() - at, bar.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.fillRect(over, _faded(theme))
        painter.setClipping(False)
        painter.fillRect(QRectF(at - 2.5, 0, 5, self.height()), QColor(theme.raised))
        painter.fillRect(QRectF(at - 1.5, 0, 3, self.height()), QColor(theme.danger))


def _faded(theme: Theme) -> QColor:
    shade = QColor(theme.raised)
    shade.setAlphaF(0.55)
    return shade


def _colour(theme: Theme, part: Use) -> QColor:
    return QColor(getattr(theme, f"use_{part}"))


def _tr(text: str) -> str:
    return QCoreApplication.translate("memory", text)


def _name(part: Use) -> str:
    return {
        "others": _tr("In use"),
        "weights": _tr("Weights"),
        "context": _tr("Context"),
        "compute": _tr("Computing"),
        "drafter": _tr("Faster answers"),
        "projector": _tr("Projector"),
    }[part]


def _visible_parts(use: MemoryUse) -> list[tuple[Use, int]]:
    return [(part, amount) for part, amount in use.parts if amount >= _LEAST]


def _title(use: MemoryUse) -> str:
    if use.place == "graphics":
        return _tr("Graphics memory: {limit}").format(limit=size(use.limit))
    return _tr("Memory: {limit}").format(limit=size(use.limit))


def _free_or_missing(use: MemoryUse) -> tuple[str, str]:
    if use.missing:
        return "danger", _tr("Missing {missing}").format(missing=size(use.missing))
    return "pressed", _tr("Free {free}").format(free=size(use.free))


def spoken(use: MemoryUse) -> str:
    """Return the numbers of the bar as one sentence."""
    parts = [f"{_name(part)} {size(amount)}" for part, amount in _visible_parts(use)]
    return _tr("{words} of {limit}.").format(
        words=", ".join([*parts, _free_or_missing(use)[1]]), limit=size(use.limit)
    )
