"""Icons: line drawings in resources/icons, drawn in any colour."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer

from app.kit.look.scale import scaled

_FOLDER = Path(__file__).resolve().parents[3] / "resources" / "icons"


def icon(name: str, colour: str, size: int = 20) -> QIcon:
    """Return an icon that is sharp on every connected screen.

    Args:
        name: The file in resources/icons, without its extension.
        colour: The colour, as SVG writes it.
        size: The width and height in pixels at a zoom of 1.0.
    """
    drawn = QIcon()
    for ratio in sorted({screen.devicePixelRatio() for screen in QGuiApplication.screens()}):
        drawn.addPixmap(pixmap(name, colour, scaled(size), ratio))
    return drawn


def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """Draw an icon, or return it from the cache. The colour replaces `currentColor` in the file.

    Args:
        name: The file in resources/icons, without its extension.
        colour: The colour, as SVG writes it.
        size: The width and height in pixels of the window.
        ratio: Pixels of the screen for each pixel of the window.
    """
    key = f"{name} {colour} {size} {ratio}"
    picture = QPixmap()
    if not QPixmapCache.find(key, picture):
        picture = _drawn(name, colour, size, ratio)
        QPixmapCache.insert(key, picture)
    return picture


def app_icon() -> QIcon:
    """Return the icon of the application."""
    return QIcon(str(_FOLDER / "hearth.svg"))


def icon_file(name: str) -> Path:
    """Return the path of an icon's file, for style sheets, which accept only files."""
    return _FOLDER / f"{name}.svg"


@cache
def _drawing(name: str) -> bytes:
    return (_FOLDER / f"{name}.svg").read_bytes()


def _drawn(name: str, colour: str, size: int, ratio: float) -> QPixmap:
    renderer = QSvgRenderer(_drawing(name).replace(b"currentColor", colour.encode()))
    picture = QPixmap(QSize(size, size) * ratio)
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return picture
