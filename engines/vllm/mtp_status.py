"""The line that says what MTP does in vLLM, in the words of the line for llama.cpp: pure.

Each sentence is one template, as there.
"""

from __future__ import annotations

from typing import Final

from engines.mtp_words import PAYS, ahead, looked_up, times
from engines.types import MtpKind
from engines.vllm.gain_book import DraftSpeeds

OFF: Final = "MTP is off, as chosen."
LOOKS_UP: Final = "This model cannot guess ahead; only text that it copies comes faster."


def running(kind: MtpKind, depth: int, drafted: int, accepted: int, gain: float | None) -> str:
    """Say what drafts, how far ahead, how many drafts hold, and what that brings."""
    if kind == "lookup":
        return looked_up(depth, drafted, accepted, gain) if drafted else LOOKS_UP
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
    """Say before the first answer what drafts, and what it brought.

    advice: where nothing of the model's own does, and why.
    """
    if kind == "lookup":
        return advice or LOOKS_UP
    if kind not in {"embedded", "drafter"}:
        return advice
    if pace.gain is None:
        return f"This model can answer faster: {ahead(depth)}."
    gain = times(pace.gain)
    if pace.gain < PAYS:
        return f"No gain on this computer: {gain} was measured."
    return f"This model can answer faster: {ahead(depth)}, {gain} measured on this computer."


def _about(seconds: float) -> str:
    return f", about {round(seconds)} s" if seconds >= 1 else ""
