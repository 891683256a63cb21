"""Translates the codes of symbol fonts to characters."""

from __future__ import annotations

import re
from typing import Final

_HEX: Final = re.compile("[0-9A-Fa-f]{1,6}")
_SYMBOL: Final = {
    **dict(zip(range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True)),
    **dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True)),
    0xA0: "€", 0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓",
    0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠",
    0xBA: "≡", 0xBB: "≈", 0xBC: "…", 0xCE: "∈", 0xCF: "∉", 0xD0: "∠", 0xD1: "∇", 0xD2: "®",
    0xD3: "©", 0xD4: "™", 0xD5: "∏", 0xD6: "√", 0xD7: "⋅", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔",  # noqa: RUF001
    0xDC: "⇐", 0xDE: "⇒", 0xE5: "∑", 0xF2: "∫",
    **{code: chr(code) for code in (*range(0x20, 0x22), 0x23, *range(0x25, 0x27),
                                    *range(0x28, 0x2A), *range(0x2B, 0x40))},
}  # fmt: skip
_WINGDINGS: Final = {
    0x4A: "☺", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "❑", 0x9F: "•", 0xA7: "▪", 0xA8: "☐",
    0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE8: "➔", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2: Final = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"}
_FONTS: Final = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}
UNKNOWN: Final = "(symbol)"
"""Replaces a symbol without a known character."""


def symbol(font: str, code: str) -> str:
    """Return the character that a font shows for a hexadecimal code."""
    if not _HEX.fullmatch(code):
        return UNKNOWN
    number = int(code, 16)
    drawn = _FONTS.get(font.lower())
    if drawn is not None:
        return drawn.get(number & 0xFF, UNKNOWN)
    private = 0xE000 <= number <= 0xF8FF
    is_printable = number <= 0x10FFFF and chr(number).isprintable()
    return chr(number) if is_printable and not private else UNKNOWN
