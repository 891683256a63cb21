"""The conversion of a pasted picture into a PNG for engines."""

from __future__ import annotations

import math
from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage, QPainter

_MOST_PIXELS: Final = 4_000_000
"""The same limit as for pictures from files: no model uses more pixels."""


def picture_bytes(image: QImage) -> bytes:
    """Return a picture as PNG, with a white background, and scaled down if it is large."""
    pixels = image.width() * image.height()
    if pixels > _MOST_PIXELS:
        width = int(image.width() * math.sqrt(_MOST_PIXELS / pixels))
        image = image.scaledToWidth(max(1, width), Qt.TransformationMode.SmoothTransformation)
    flat = QImage(image.size(), QImage.Format.Format_RGB888)
    flat.fill(Qt.GlobalColor.white)
    painter = QPainter(flat)
    painter.drawImage(0, 0, image)
    painter.end()
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    flat.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(content.data())
