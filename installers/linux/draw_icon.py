"""Draws Hearth's icon as `SIZE.png`: `python draw_icon.py FOLDER SIZE…`, with PySide6."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

DRAWING = Path(__file__).resolve().parents[2] / "resources" / "icons" / "hearth.svg"


def draw(folder: Path, sizes: Sequence[int]) -> None:
    """Write the drawing into a folder, once for each size."""
    app = QGuiApplication(["draw_icon", "-platform", "offscreen"])
    renderer = QSvgRenderer(str(DRAWING))
    for size in sizes:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer.render(painter, QRectF(0, 0, size, size))
        painter.end()
        if not image.save(str(folder / f"{size}.png")):
            raise SystemExit(f"{folder / f'{size}.png'} cannot be written")
    app.quit()


if __name__ == "__main__":
    draw(Path(sys.argv[1]), [int(size) for size in sys.argv[2:]])
