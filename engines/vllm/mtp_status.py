"""The line that says what MTP does in vLLM, in the words of the line for llama.cpp: pure.

Each sentence is one template, as there.
"""

from __future__ import annotations

from typing import Final

from engines.mtp_words import ahead, times
from engines.types import MtpKind
from engines.vllm.gain_book import DraftSpeeds

OFF: Final = "MTP is off, as chosen."
_PAYS: Final = 1.05
"""Gains below this are within what answers differ by."""


def running(depth: int, drafted: int, accepted: int, gain: float | None) -> str:
    """Say how far ahead is drafted, how many drafts hold, and what that brings."""
    far = ahead(depth)
    if not drafted:
        return f"MTP on: {far}"
    held = f"{round(100 * accepted / drafted)} %"
    if gain is None:
        return f"MTP on: {far}, {held} accepted"
    return f"MTP on: {far}, {held} accepted, {times(gain)} measured on this computer"


def still_on(depth: int, restart_s: float) -> str:
    """Say that the worker drafts, although MTP is not wanted."""
    return f"MTP is still on, {ahead(depth)}: vLLM changes it with a restart{_about(restart_s)}."


def still_off(restart_s: float) -> str:
    """Say that the worker does not draft, although MTP is wanted and possible."""
    return f"MTP is off: vLLM changes it with a restart{_about(restart_s)}."


def standing(kind: MtpKind, depth: int, pace: DraftSpeeds, advice: str) -> str:
    """Say before the first answer what drafts, and what it brought. advice: where nothing does."""
    if kind not in {"embedded", "drafter"}:
        return advice
    if pace.gain is None:
        return f"This model can answer faster: {ahead(depth)}."
    gain = times(pace.gain)
    if pace.gain < _PAYS:
        return f"No gain on this computer: {gain} was measured."
    return f"This model can answer faster: {ahead(depth)}, {gain} measured on this computer."


def _about(seconds: float) -> str:
    return f", about {round(seconds)} s" if seconds >= 1 else ""
