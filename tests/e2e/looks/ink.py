"""The readability of text, measured on the pixels of a window: WCAG 2.1's contrast ratio."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage, QRegion
from PySide6.QtWidgets import QWidget

Pixels = NDArray[np.uint8]
"""Rows, columns, and red, green, blue."""

FINE = 3
"""The magnification at which the stems of letters have their full colour."""
_NEAR = 10
"""Out of 255; a pixel that is nearer in every channel belongs to the background."""
_LEAST_PIXELS = 6


def pixels(image: QImage) -> Pixels:
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    whole: NDArray[Any] = np.frombuffer(image.constBits(), np.uint8)
    lines = whole.reshape(image.height(), image.bytesPerLine() // 4, 4)
    return lines[:, : image.width(), 2::-1].copy()


def looked_at(window: QWidget) -> Pixels:
    return pixels(window.grab().toImage())


def looked_at_closely(window: QWidget, part: QRect) -> Pixels:
    """Return the pixels of a part of a window, drawn FINE times as large."""
    image = QImage(part.size() * FINE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(FINE)
    image.fill(Qt.GlobalColor.magenta)
    window.render(image, QPoint(), QRegion(part))
    return pixels(image)


def crop(picture: Pixels, part: QRect) -> Pixels:
    return picture[max(0, part.top()) : part.bottom() + 1, max(0, part.left()) : part.right() + 1]


def lines(picture: Pixels) -> list[Pixels]:
    """Return the lines of text in a picture: runs of rows with more than the background."""
    if not picture.size:
        return []
    inked = (_away(picture, _background(picture)) > _NEAR).any(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], inked, [False])).astype(np.int8)))
    return [picture[top:end] for top, end in edges.reshape(-1, 2) if end - top >= 4]


def contrast(picture: Pixels) -> float | None:
    """Return the contrast of the text in a picture; None if no text is visible.

    The background is the most frequent colour. The text's colour is that of its strongest pixels,
    as the pixels at the edges of letters are mixed.
    """
    flat = picture.reshape(-1, 3)
    if not flat.size:
        return None
    shades = _luminance(flat)
    background = _background(picture)
    back = _luminance(background[None])[0]
    ratios = (np.maximum(shades, back) + 0.05) / (np.minimum(shades, back) + 0.05)
    strongest = np.sort(ratios[_away(picture, background).reshape(-1) > _NEAR])[::-1]
    if len(strongest) < _LEAST_PIXELS:
        return None
    return float(strongest[_LEAST_PIXELS - 1])


def ink_of(picture: Pixels) -> tuple[int, int] | None:
    """Return the first and last column that is not all background."""
    columns = np.flatnonzero((_away(picture, _background(picture)) > _NEAR).any(axis=0))
    return (int(columns[0]), int(columns[-1])) if len(columns) else None


def _away(picture: Pixels, background: Pixels) -> NDArray[np.int16]:
    """Return each pixel's distance from the background, in its most distant channel."""
    away: NDArray[np.int16] = np.abs(picture.astype(np.int16) - background.astype(np.int16)).max(
        axis=2
    )
    return away


def _background(picture: Pixels) -> Pixels:
    """Return the most frequent colour."""
    flat = picture.reshape(-1, 3).astype(np.int64)
    codes = flat[:, 0] << 16 | flat[:, 1] << 8 | flat[:, 2]
    values, counts = np.unique(codes, return_counts=True)
    code = int(values[counts.argmax()])
    return np.array([code >> 16, code >> 8 & 255, code & 255], np.uint8)


def _luminance(colours: NDArray[Any]) -> NDArray[np.float64]:
    shares = colours.astype(np.float64) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    luminance: NDArray[np.float64] = linear @ np.array([0.2126, 0.7152, 0.0722])
    return luminance
