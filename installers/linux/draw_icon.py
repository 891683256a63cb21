"""Draws Hearth's icon in the sizes of Linux: `python draw_icon.py FOLDER`, with PySide6."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

DRAWING = Path(__file__).resolve().parents[2] / "resources" / "icons" / "hearth.svg"
SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)


def draw(folder: Path) -> None:
    """Write the drawing as `SIZE.png` for each size."""
    app = QGuiApplication(["draw_icon", "-platform", "offscreen"])
    renderer = QSvgRenderer(str(DRAWING))
    for size in SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer.render(painter, QRectF(0, 0, size, size))
        painter.end()
        if not image.save(str(folder / f"{size}.png")):
            raise SystemExit(f"{folder / f'{size}.png'} cannot be written")
    app.quit()


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
