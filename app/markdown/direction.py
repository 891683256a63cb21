"""The direction of a paragraph, taken from its first letter that has one, as in Unicode."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import bidirectional

from app.markdown.blocks import Span


def runs_right_to_left(text: str) -> bool | None:
    """Return whether a text runs right to left; None if none of its letters has a direction."""
    for character in text:
        kind = bidirectional(character)
        if kind in {"L", "R", "AL"}:
            return kind != "L"
    return None


def is_right_to_left(spans: Iterable[Span]) -> bool:
    """Return whether a block runs right to left; code, formulas and pictures are ignored."""
    for span in spans:
        if not (span.code or span.math or span.picture):
            right_to_left = runs_right_to_left(span.text)
            if right_to_left is not None:
                return right_to_left
    return False
