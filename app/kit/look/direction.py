"""Texts of people's own, which run right to left in a window that runs left to right."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit

from app.markdown.direction import runs_right_to_left

_AS_IT_BEGINS, _LEFT_TO_RIGHT, _END = "\u2068", "\u2066", "\u2069"
"""Between the marks a text has a direction of its own, and turns nothing around it."""

_FILE: Final = re.compile(r"\.[A-Za-z]\w{0,4}$")
"""The ending of a file’s name, which systems show at its right whatever is before it."""


def isolated(text: str) -> str:
    """Return a text for a line of the window: with marks around it if it runs right to left."""
    if not runs_right_to_left(text):
        return text
    begin = _LEFT_TO_RIGHT if _FILE.search(text) else _AS_IT_BEGINS
    return f"{begin}{text}{_END}"


def align(edit: QPlainTextEdit) -> None:
    """Begin the lines of a plain text at the side where its first letter does.

    Qt gives each of its paragraphs the direction of its own, but the same side to all.
    """
    side = Qt.AlignmentFlag.AlignLeft
    if runs_right_to_left(edit.document().firstBlock().text()):
        side = Qt.AlignmentFlag.AlignRight
    option = edit.document().defaultTextOption()
    if option.alignment() != side:
        option.setAlignment(side)
        edit.document().setDefaultTextOption(option)
