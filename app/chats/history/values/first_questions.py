"""Chooses the kind of first questions that suit a model: pure."""

from __future__ import annotations

import re
from typing import Literal

QuestionKind = Literal["guide", "documents", "code", "thinking", "general"]

_CODE = re.compile(r"code|coding|codestral|devstral", re.IGNORECASE)


def kind_for(name: str, *, builtin: bool, thinks: bool, documents: bool = False) -> QuestionKind:
    """Choose the kind of first questions for a model.

    Args:
        name: The model's name.
        builtin: Whether the model is the built-in guide.
        thinks: Whether the model can think first.
        documents: Whether the chat is about documents.
    """
    if builtin:
        return "guide"
    if documents:
        return "documents"
    if _CODE.search(name):
        return "code"
    return "thinking" if thinks else "general"
