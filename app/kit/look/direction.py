"""Right-to-left texts of users in a window that runs left to right."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit

from app.markdown.direction import runs_right_to_left

_AS_IT_BEGINS, _LEFT_TO_RIGHT, _END = "\u2068", "\u2066", "\u2069"
"""Unicode isolates: the text between them has its own direction and does not affect the rest."""

_FILE: Final = re.compile(r"\.[A-Za-z]\w{0,4}$")
"""The extension of a file name, which file managers show on the right in every script."""


def isolated(text: str) -> str:
    """Return a text for a line of the window, inside isolates if it runs right to left."""
    if not runs_right_to_left(text):
        return text
    begin = _LEFT_TO_RIGHT if _FILE.search(text) else _AS_IT_BEGINS
    return f"{begin}{text}{_END}"


def align(edit: QPlainTextEdit) -> None:
    """Align a plain text to the side on which its first line begins.

    Qt gives each paragraph its own direction, but aligns all of them to the same side.
    """
    side = Qt.AlignmentFlag.AlignLeft
    if runs_right_to_left(edit.document().firstBlock().text()):
        side = Qt.AlignmentFlag.AlignRight
    option = edit.document().defaultTextOption()
    if option.alignment() != side:
        option.setAlignment(side)
        edit.document().setDefaultTextOption(option)
