"""The fonts of the window: those that Hearth ships, and the system's fonts for other scripts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from PySide6.QtGui import QFont, QFontDatabase

TEXT, CODE = "Inter", "JetBrains Mono NL"
"""Families in resources/fonts. NL has no ligatures: `->` stays two characters."""

FOLDER = Path(__file__).resolve().parents[3] / "resources" / "fonts"


def text_font(pixels: int) -> QFont:
    """Make the font of labels and messages. Missing characters come from the system's fonts."""
    return _font(TEXT, QFontDatabase.SystemFont.GeneralFont, pixels)


def code_font(pixels: int) -> QFont:
    """Make the monospaced font of code."""
    font = _font(CODE, QFontDatabase.SystemFont.FixedFont, pixels)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


def _font(family: str, fallback: QFontDatabase.SystemFont, pixels: int) -> QFont:
    _load()
    font = QFontDatabase.systemFont(fallback)
    font.setFamilies([family, font.family()])
    font.setPixelSize(pixels)
    return font


@cache
def _load() -> None:
    for file in sorted(FOLDER.glob("*.ttf")):
        QFontDatabase.addApplicationFont(str(file))
