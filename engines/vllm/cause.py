"""What a log of vLLM's gives as the cause of an end: pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_ERROR: Final = re.compile(
    r"\((?:EngineCore|Worker|APIServer)[^)]*\)\s+(?:ERROR\s.*?)?\s*"
    r"([A-Za-z_.]*(?:Error|Exception|Exit)): (.+)"
)
_PLAIN_ERROR: Final = re.compile(r"^[a-z_.A-Z]*(?:Error|Exception): (.+)")
_GENERAL: Final = (
    "Engine core initialization failed",
    "See root cause",
    "EngineDeadError",
    "CancelledError",
    "Error: cancelled",
)


def cause(lines: Sequence[str]) -> str:
    """The first error that says more than that there was one, or else the last line."""
    if found := first_error(lines):
        return found
    return sentence(_bare(lines[-1])) if lines else "nothing at all."


def first_error(lines: Sequence[str]) -> str | None:
    """That one alone; None where there is none."""
    telling = [line for line in lines if not any(words in line for words in _GENERAL)]
    for line in telling:
        if "ERROR" in line and (found := _ERROR.search(line)):
            return sentence(found[2])
    for line in telling:
        if found := _PLAIN_ERROR.search(_bare(line)):
            return sentence(found[1])
    return None


def _bare(line: str) -> str:
    """Without the name of the process."""
    return re.sub(r"^\([^)]*\)\s*", "", line)


def sentence(text: str) -> str:
    """In one line, with an end, and not too long."""
    text = re.sub(r"\s+", " ", text).strip().rstrip(".")
    return f"{text[:300]}." if len(text) <= 300 else f"{text[:300]}…"
