"""The status line for MTP in vLLM, worded as the line for llama.cpp is. Pure.

Each sentence is a single template, as it is there.
"""

from __future__ import annotations

from typing import Final

from engines.mtp_words import PAYS, ahead, looked_up, times
from engines.types import MtpKind
from engines.vllm.gain_book import DraftSpeeds

OFF: Final = "MTP is off, as chosen."
LOOKS_UP: Final = "This model cannot guess ahead; only text that it copies comes faster."


def running(kind: MtpKind, depth: int, drafted: int, accepted: int, gain: float | None) -> str:
    """Describe how drafting works: its source, depth, acceptance and gain."""
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
    """Report that the worker drafts although MTP is turned off."""
    return f"MTP is still on, {ahead(depth)}: vLLM changes it with a restart{_about(restart_s)}."


def still_off(restart_s: float) -> str:
    """Report that the worker does not draft although MTP is turned on and possible."""
    return f"MTP is off: vLLM changes it with a restart{_about(restart_s)}."


def standing(kind: MtpKind, depth: int, pace: DraftSpeeds, advice: str) -> str:
    """Describe before the first answer how the model drafts, and the gain that was measured.

    Args:
        advice: Explains why the model has no drafting of its own, if it has none.
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
