"""A picture that can be panned and zoomed, with marks on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QPoint, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.documents.values.pages import Rectangle
from app.kit.look.theme import GRID, theme_of

Fit = Literal["", "width", "whole"]

SMALLEST, LARGEST = 0.1, 8.0
STEP = 1.25
_MARK = 0.3
"""The opacity of a mark."""
_PAN = 60
"""Pixels that an arrow key moves the picture."""


class PictureCanvas(QAbstractScrollArea):
    """A picture that can be panned and zoomed.

    Its size is set separately, because it can have more or fewer pixels than are displayed.

    Attributes:
        image: The picture; a null image if there is none.
        marks: The marked rectangles, as shares of its width and height.

    Signals:
        scaled(scale): It is displayed at another scale; 1 is its own size.
    """

    scaled = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pictureCanvas")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.image = QImage()
        self._size = QSizeF()
        self.marks: Sequence[Rectangle] = ()
        self._fit: Fit = "whole"
        self._scale = 1.0
        self._grabbed: QPoint | None = None

    @property
    def scale(self) -> float:
        """The scale that the picture is shown at; 1.0 is its own size."""
        return self._scale

    @property
    def fit(self) -> Fit:
        """The fit mode; "" after a manual zoom."""
        return self._fit

    @property
    def shown_width(self) -> int:
        """The width of the displayed picture, in pixels of the screen."""
        return math.ceil(self._size.width() * self._scale * self.devicePixelRatioF())

    def show_size(self, size: QSizeF) -> None:
        """Remove the picture and make room for one of this size, which comes later."""
        self.image = QImage()
        self.marks = ()
        self._size = size
        self._settle()

    def show_picture(self, image: QImage, marks: Sequence[Rectangle] = ()) -> None:
        """Show a picture in the size that was set."""
        self.image = image
        self.marks = marks
        self.viewport().update()

    def set_fit(self, fit: Fit) -> None:
        """Fit the picture to the width or to the whole view."""
        self._fit = fit
        self._settle()

    def set_scale(self, scale: float, at: QPointF | None = None) -> None:
        """Zoom to a scale, keeping the point at `at`, or in the middle, in place."""
        self._fit = ""
        self._zoom(scale, at)

    def step(self, by: int, at: QPointF | None = None) -> None:
        """Zoom in or out by a number of steps."""
        self.set_scale(self._scale * STEP**by, at)

    def show_mark(self) -> None:
        """Scroll the first mark to the middle."""
        if not self.marks:
            return
        left, top, right, bottom = self.marks[0]
        area = self.area()
        middle_x = area.width() * (left + right) / 2
        middle_y = area.height() * (top + bottom) / 2
        view = self.viewport()
        self.horizontalScrollBar().setValue(round(middle_x - view.width() / 2))
        self.verticalScrollBar().setValue(round(middle_y - view.height() / 2))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the picture to the new size."""
        super().resizeEvent(event)
        self._settle()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the visible part of the picture and its marks."""
        painter = QPainter(self.viewport())
        theme = theme_of(self.palette())
        painter.fillRect(self.viewport().rect(), QColor(theme.side))
        area = self.area()
        if self.image.isNull():
            painter.setPen(QPen(QColor(theme.line), 1))
            painter.drawRect(area)
            painter.end()
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(area, self.image)
        colour = QColor(theme.accent)
        faint = QColor(colour)
        faint.setAlphaF(_MARK)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour, 2))
        painter.setBrush(faint)
        for left, top, right, bottom in self.marks:
            place = QRectF(
                area.x() + left * area.width(),
                area.y() + top * area.height(),
                (right - left) * area.width(),
                (bottom - top) * area.height(),
            )
            painter.drawRoundedRect(place.adjusted(-2, -1, 2, 1), 3, 3)
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer while Ctrl is pressed; scroll otherwise."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            turned = event.angleDelta().y() / 120
            if turned:
                self.set_scale(self._scale * STEP**turned, event.position())
            event.accept()
        else:
            super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Grab the picture with the left button."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._grabbed = event.position().toPoint()
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move a grabbed picture with the pointer."""
        if self._grabbed is not None:
            now = event.position().toPoint()
            self._pan(self._grabbed - now)
            self._grabbed = now

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """Let go of the picture."""
        self._grabbed = None
        self.viewport().unsetCursor()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Toggle between the whole picture and its own size at the clicked point."""
        if self._fit:
            self.set_scale(1.0 if self._scale < 1 else 2.0, event.position())
        else:
            self.set_fit("whole")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the picture with the arrow keys."""
        moves = {
            Qt.Key.Key_Left: QPoint(-_PAN, 0),
            Qt.Key.Key_Right: QPoint(_PAN, 0),
            Qt.Key.Key_Up: QPoint(0, -_PAN),
            Qt.Key.Key_Down: QPoint(0, _PAN),
        }
        move = moves.get(Qt.Key(event.key()))
        if move is None:
            event.ignore()
        else:
            self._pan(move)

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        """Draw the part of the picture at the new position."""
        self.viewport().update()

    def _pan(self, by: QPoint) -> None:
        for bar, step in (
            (self.horizontalScrollBar(), by.x()),
            (self.verticalScrollBar(), by.y()),
        ):
            bar.setValue(bar.value() + step)

    def _settle(self) -> None:
        """Apply the fit mode, and update the scroll range."""
        if self._size.isEmpty():
            self._measure()
            return
        room = QSizeF(self.viewport().size()) - QSizeF(2 * GRID, 2 * GRID)
        across = room.width() / self._size.width()
        down = room.height() / self._size.height()
        if self._fit == "width":
            self._zoom(across)
        elif self._fit == "whole":
            self._zoom(min(across, down, 1.0))
        else:
            self._measure()

    def _zoom(self, scale: float, at: QPointF | None = None) -> None:
        scale = min(LARGEST, max(SMALLEST, scale))
        view = self.viewport()
        point = at or QPointF(view.width() / 2, view.height() / 2)
        before = self.area()
        share_x = (point.x() - before.x()) / max(1.0, before.width())
        share_y = (point.y() - before.y()) / max(1.0, before.height())
        self._scale = scale
        self._measure()
        after = self._size * scale
        self.horizontalScrollBar().setValue(round(share_x * after.width() - point.x() + GRID))
        self.verticalScrollBar().setValue(round(share_y * after.height() - point.y() + GRID))
        self.scaled.emit(scale)

    def _measure(self) -> None:
        size, view = self._size * self._scale, self.viewport().size()
        for bar, whole, visible in (
            (self.horizontalScrollBar(), size.width(), view.width()),
            (self.verticalScrollBar(), size.height(), view.height()),
        ):
            bar.setPageStep(visible)
            bar.setSingleStep(_PAN)
            bar.setRange(0, max(0, math.ceil(whole) + 2 * GRID - visible))
        self.viewport().update()

    def area(self) -> QRectF:
        """Return the picture's rectangle in the view, centred while it fits."""
        size, view = self._size * self._scale, self.viewport().size()
        x = max(float(GRID), (view.width() - size.width()) / 2)
        y = max(float(GRID), (view.height() - size.height()) / 2)
        return QRectF(
            x - self.horizontalScrollBar().value(),
            y - self.verticalScrollBar().value(),
            size.width(),
            size.height(),
        )
