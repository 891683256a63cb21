"""A plot of a curve over the last minutes, in the theme's colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import QCoreApplication, QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.activity.values.activity import Curve
from app.kit.look.scale import scaled
from app.kit.look.theme import SMALL, Theme, theme_of
from app.runtime.values.request_records import SPAN_S

_HEIGHT = 132
_WIDTH = 320
_STEPS = (1.0, 2.0, 5.0, 10.0)


class Plot(QWidget):
    """A plot of one curve. Its accessible description says what it shows.

    Args:
        write: Returns a value as text, for the scale.
        top: The value at the top of the scale; None adapts it to the values.
        dots: Draw each value as a separate dot.
    """

    def __init__(
        self, write: Callable[[float], str], top: float | None, *, dots: bool, name: str
    ) -> None:
        super().__init__()
        self.setObjectName(name)
        self._write = write
        self._top = top
        self._dots = dots
        self._curve: Curve = ()
        self.setMinimumHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_curve(self, curve: Curve) -> None:
        """Draw another curve."""
        if curve != self._curve:
            self._curve = curve
            self.update()

    @property
    def top(self) -> float:
        """The value at the upper edge."""
        return self._top or round_up(
            max((value for value in self._curve if value is not None), default=0)
        )

    def sizeHint(self) -> QSize:
        """Prefer the plot's usual size, in the present zoom."""
        return QSize(scaled(_WIDTH), scaled(_HEIGHT))

    def event(self, event: QEvent) -> bool:
        """Show the value under a resting pointer."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.value_at(event.pos().x()), self)
            return True
        return super().event(event)

    def value_at(self, x: float) -> str:
        """Return the value at a horizontal position, in pixels, as text; "" if there is none."""
        area = self._area()
        at = int((x - area.left()) / area.width() * len(self._curve))
        value = self._curve[at] if 0 <= at < len(self._curve) else None
        return "" if value is None else self._write(value)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the scale and the curve."""
        theme = theme_of(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._font())
        area = self._area()
        self._draw_scale(painter, theme, area)
        for run in _runs(self._points(area), split=not self._dots):
            self._draw_run(painter, QColor(theme.use_context), run, area)
        painter.end()

    def _draw_scale(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        painter.setPen(QPen(QColor(theme.line), 1))
        for share in (0.0, 0.5, 1.0):
            y = area.bottom() - share * area.height()
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(QColor(theme.muted))
        left, right = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        line = QFontMetricsF(painter.font()).height()
        top_line = QRectF(area.left(), area.top() - line, area.width(), line)
        bottom_line = QRectF(area.left(), area.bottom() + scaled(2), area.width(), line)
        painter.drawText(top_line, left, self._write(self.top))
        minutes = QCoreApplication.translate("activity", "{minutes} min ago").format(
            minutes=round(SPAN_S / 60)
        )
        painter.drawText(bottom_line, left, minutes)
        painter.drawText(bottom_line, right, QCoreApplication.translate("activity", "now"))

    def _draw_run(
        self, painter: QPainter, colour: QColor, run: list[QPointF], area: QRectF
    ) -> None:
        if not self._dots:
            faded = QColor(colour)
            faded.setAlphaF(0.14)
            base_line = [QPointF(run[-1].x(), area.bottom()), QPointF(run[0].x(), area.bottom())]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(faded)
            painter.drawPolygon(QPolygonF([*run, *base_line]))
        painter.setPen(QPen(colour, scaled(1) if self._dots else scaled(2)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(run))
        if self._dots or len(run) == 1:
            painter.setBrush(colour)
            for point in run:
                painter.drawEllipse(point, scaled(2.5), scaled(2.5))

    def _points(self, area: QRectF) -> Iterator[QPointF | None]:
        highest = self.top
        for number, value in enumerate(self._curve):
            if value is None:
                yield None
                continue
            x = area.left() + (number + 0.5) / len(self._curve) * area.width()
            yield QPointF(x, area.bottom() - min(1.0, value / highest) * area.height())

    def _area(self) -> QRectF:
        """Return the curve's area, between the top value above and the line of text below."""
        line = QFontMetricsF(self._font()).height()
        return QRectF(self.rect()).adjusted(1, line + 1, -1, -line - scaled(2) - 1)

    def _font(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(scaled(SMALL))
        return font


def round_up(value: float) -> float:
    """Return the next number of the form 1, 2 or 5 times a power of ten; 1 if not positive."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in _STEPS if step * power >= value * (1 - 1e-9))


def _runs(points: Iterable[QPointF | None], *, split: bool) -> Iterator[list[QPointF]]:
    """Yield the points that are joined to a line.

    Args:
        split: Start a new line at each gap, instead of bridging it.
    """
    run: list[QPointF] = []
    for point in points:
        if point is not None:
            run.append(point)
        elif split and run:
            yield run
            run = []
    if run:
        yield run
