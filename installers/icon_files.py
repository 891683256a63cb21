"""Draws Hearth's icon for Windows and macOS: `python icon_files.py FOLDER`, with PySide6.

Both kinds of file contain the drawing in several sizes. The usual tools for each exist on one
system only; these functions write the same files on every system.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

DRAWING: Final = Path(__file__).resolve().parents[1] / "resources" / "icons" / "hearth.svg"
WINDOWS: Final = (16, 20, 24, 32, 40, 48, 64, 256)
"""In pixels: the sizes in which Windows shows icons at a scale of 100 to 200 %."""
MACOS: Final[Mapping[bytes, int]] = {
    b"ic11": 32,
    b"ic12": 64,
    b"ic07": 128,
    b"ic13": 256,
    b"ic08": 256,
    b"ic14": 512,
    b"ic09": 512,
    b"ic10": 1024,
}
"""The pictures of an .icns by their type, with the size of each in pixels.

ic11 to ic14 and ic10 are for screens with double resolution. Source: Apple's table of icon types.
"""
GROUND: Final = "#b4440f"
"""The background colour of the drawing."""
MARGIN: Final = 0.1
"""The margin on each side of the drawing on macOS, as a share of the icon's size."""


def ico(drawings: Mapping[int, tuple[bytes, bytes]]) -> bytes:
    """Return the icon file of a Windows program.

    The largest picture is a PNG; the smaller ones are bitmaps, which Windows and its tools can read
    everywhere.

    Args:
        drawings: By their size in pixels, as PNG and as rows of BGRA.
    """
    head = struct.pack("<HHH", 0, 1, len(drawings))
    offset = len(head) + 16 * len(drawings)
    entries, images = b"", b""
    for size, (png, rows) in sorted(drawings.items()):
        image = png if size >= 256 else _bitmap(size, rows)
        side = size % 256  # 0 stands for 256
        entries += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(image), offset)
        images += image
        offset += len(image)
    return head + entries + images


def _bitmap(size: int, rows: bytes) -> bytes:
    """Return a bottom-up bitmap with an empty mask, as the colours have an alpha channel."""
    width = size * 4
    lines = [rows[at : at + width] for at in range(0, len(rows), width)]
    mask = bytes((size + 31) // 32 * 4 * size)
    colours = b"".join(reversed(lines))
    head = struct.pack(
        "<IiiHHIIiiII", 40, size, size * 2, 1, 32, 0, len(colours) + len(mask), 0, 0, 0, 0
    )
    return head + colours + mask


def icns(pngs: Mapping[int, bytes]) -> bytes:
    """Return the icon file of an app for macOS.

    Args:
        pngs: By their size in pixels.
    """
    parts = b"".join(
        kind + struct.pack(">I", len(pngs[size]) + 8) + pngs[size] for kind, size in MACOS.items()
    )
    return b"icns" + struct.pack(">I", len(parts) + 8) + parts


def draw(size: int, margin: float = 0.0) -> tuple[bytes, bytes]:
    """Draw the icon; return it as PNG and as rows of BGRA."""
    from PySide6.QtCore import QBuffer, QRectF, Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    free = size * margin
    QSvgRenderer(str(DRAWING)).render(painter, QRectF(free, free, size - 2 * free, size - 2 * free))
    painter.end()
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(buffer.data().data()), bytes(image.constBits())


def draw_side(path: Path) -> None:
    """Draw the picture beside the installer's last page, at double resolution."""
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QColor, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(328, 628, QImage.Format.Format_RGB888)
    image.fill(QColor(GROUND))
    painter = QPainter(image)
    QSvgRenderer(str(DRAWING)).render(painter, QRectF(84, 214, 160, 160))
    painter.end()
    image.save(str(path), "BMP")


def write(folder: Path) -> None:
    """Write `hearth.ico` and `hearth.icns`, and `side.bmp` for the installer of Windows."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hearth.ico").write_bytes(ico({size: draw(size) for size in WINDOWS}))
    draw_side(folder / "side.bmp")
    pngs = {size: draw(size, MARGIN)[0] for size in set(MACOS.values())}
    (folder / "hearth.icns").write_bytes(icns(pngs))


if __name__ == "__main__":
    from PySide6.QtGui import QGuiApplication

    _app = QGuiApplication(["icon_files", "-platform", "offscreen"])
    write(Path(sys.argv[1]))
