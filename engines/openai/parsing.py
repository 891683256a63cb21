"""Parses a server's JSON into values that are safe to keep, send and show. Pure."""

from __future__ import annotations

import json
import re
from typing import Any, Final

_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a surrogate pair, which on its own is no text and cannot be kept, sent or shown."""


def parse_json(text: str | bytes) -> Any:
    """Parse JSON, with None for NaN and infinity. Raises ValueError, also for too deep nesting."""
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
