"""Parses JSON of servers, so that nothing in it harms what it is put into. Pure."""

from __future__ import annotations

import json
import re
from typing import Any, Final

_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""A half of a character's pair: alone it is no text, and cannot be kept, sent or shown."""


def parsed(text: str | bytes) -> Any:
    """Parse JSON; what is no number is None. Raises ValueError, also if it is nested too deep."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    try:
        value = json.loads(text, parse_constant=lambda _: None)
        if _HALF.search(text) is None:
            return value
        halves = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        return json.loads(halves.decode("utf-16", "replace"))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
