"""Round corners for windows without a frame: lists of choices, menus and the palette."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QPainterPath, QRegion
from PySide6.QtWidgets import QWidget

from app.kit.look.scale import scaled
from app.kit.look.theme import GRID

_NEEDS_A_SHAPE = frozenset({"xcb"})
"""The platforms on which a desktop without compositing draws transparent corners black."""


def round_corners(window: QWidget, radius: int = GRID) -> None:
    """Let only the round corners of a window show; call it before the window is first shown.

    Args:
        window: A window that draws its own background and edge.
        radius: The radius of its corners in the style sheet, in pixels.
    """
    window.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
    if QGuiApplication.platformName() in _NEEDS_A_SHAPE:
        window.installEventFilter(_Shape(window, radius))


class _Shape(QObject):
    """The shape of a window, which follows its size."""

    def __init__(self, window: QWidget, radius: int) -> None:
        super().__init__(window)
        self._radius = radius

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Qt takes the shape of a drop-down list away when its size changes, so it is set at Show.
        changes = event.type() in (QEvent.Type.Resize, QEvent.Type.Show)
        if changes and isinstance(watched, QWidget):
            outline = QPainterPath()
            radius = scaled(self._radius)
            outline.addRoundedRect(QRectF(watched.rect()), radius, radius)
            watched.setMask(QRegion(outline.toFillPolygon().toPolygon()))
        return False
