"""The drawing of pictures in a text: formulas, and image files on this computer.

It runs on its own thread, so it must not touch the window.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPainter
from PySide6.QtSvg import QSvgRenderer

from app.base.home import expand_home
from app.markdown.typeset import SetFormula, typeset

_FORMATS = {b"png", b"jpeg", b"jpg", b"gif", b"webp", b"bmp"}
"""The image formats that are read; not SVG, which can refer to other files."""
_WIDEST = 760
_HIGHEST = 480
_MOST_BYTES = 50_000_000


@dataclass(frozen=True)
class PictureRequest:
    """A picture that a text waits for.

    Attributes:
        source: The path of a file, or a formula.
        kind: "file", or "inline" and "display" for a formula in a line and on its own.
        size: The size of the text in pixels.
        middle: How far above the baseline Qt centres an image in a line of text, in pixels: a
            quarter of the height of the small letters.
        colour: The colour of a formula.
        ratio: Pixels of the screen for each pixel of the window.
    """

    source: str
    kind: Literal["file", "inline", "display"]
    size: int
    middle: float
    colour: str
    ratio: float


def draw(request: PictureRequest) -> QImage | None:
    """Draw a picture; return None if it cannot be drawn."""
    if request.kind == "file":
        return _read(expand_home(request.source), request.ratio)
    inline = request.kind == "inline"
    formula = typeset(request.source, request.size * 1.1, request.colour, inline=inline)
    return _paint(formula, request) if formula else None


def _paint(formula: SetFormula, request: PictureRequest) -> QImage:
    """Draw a formula, with room added so that it stands on the baseline of the text.

    In a line of text, Qt centres an image at `request.middle` above the baseline, so the image
    needs the same room above and below that height.
    """
    above = below = 0.0
    if request.kind == "inline":
        over = formula.height - formula.descent - request.middle
        under = formula.descent + request.middle
        above, below = max(0.0, under - over), max(0.0, over - under)
    size = QSize(round(formula.width + 1), round(formula.height + above + below + 1))
    image = QImage(size * request.ratio, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(request.ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    area = QRectF(0.5, above + 0.5, formula.width, formula.height)
    QSvgRenderer(QByteArray(formula.svg)).render(painter, area)
    painter.end()
    return image


def _read(path: Path, ratio: float) -> QImage | None:
    """Read a picture from a file, scaled down to the size at which it is shown."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        content = path.read_bytes()
    except OSError:
        return None  # the text stays in its place
    buffer = QBuffer()
    buffer.setData(content)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    if bytes(reader.format().data()).lower() not in _FORMATS:
        return None
    reader.setAutoTransform(True)
    size = reader.size()
    if size.isValid():
        shown_size = size.scaled(
            size.boundedTo(QSize(_WIDEST, _HIGHEST) * ratio), Qt.AspectRatioMode.KeepAspectRatio
        )
        reader.setScaledSize(shown_size)
    image = reader.read()
    image.setDevicePixelRatio(ratio)
    return None if image.isNull() else image
