"""Decides which questions suit a model to begin a chat with: pure."""

from __future__ import annotations

import re
from typing import Literal

QuestionKind = Literal["guide", "documents", "code", "thinking", "general"]

_CODE = re.compile(r"code|coding|codestral|devstral", re.IGNORECASE)


def kind_for(name: str, *, builtin: bool, thinks: bool, documents: bool = False) -> QuestionKind:
    """Choose by a model's name, whether it is the guide, and whether it can think first.

    documents: the chat is asked about some.
    """
    if builtin:
        return "guide"
    if documents:
        return "documents"
    if _CODE.search(name):
        return "code"
    return "thinking" if thinks else "general"
