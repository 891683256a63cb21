"""The status line for MTP in vLLM, worded as the line for llama.cpp is. Pure.

Each sentence is a single template, as it is there.
"""

from __future__ import annotations

from typing import Final

from engines.mtp_words import PAYS, ahead, looked_up, times
from engines.sentences import N_
from engines.types import MtpKind
from engines.vllm.gain_book import DraftSpeeds

OFF: Final = N_("MTP is off, as chosen.")
LOOKS_UP: Final = N_("This model cannot guess ahead; only text that it copies comes faster.")


def status_running(
    kind: MtpKind, depth: int, drafted: int, accepted: int, gain: float | None
) -> str:
    """Describe how drafting works: its source, depth, acceptance and gain."""
    if kind == "lookup":
        return looked_up(depth, drafted, accepted, gain) if drafted else LOOKS_UP
    depth_text = ahead(depth)
    if not drafted:
        return N_("MTP on: {far}", far=depth_text)
    accepted_share = f"{round(100 * accepted / drafted)} %"
    if gain is None:
        return N_("MTP on: {ahead}, {accepted} accepted", ahead=depth_text, accepted=accepted_share)
    return N_(
        "MTP on: {ahead}, {accepted} accepted, {gain} measured on this computer",
        ahead=depth_text,
        accepted=accepted_share,
        gain=times(gain),
    )


def still_on(depth: int, restart_s: float) -> str:
    """Report that the worker drafts although MTP is turned off."""
    return N_(
        "MTP is still on, {ahead}: vLLM changes it with a restart{about}.",
        ahead=ahead(depth),
        about=_about(restart_s),
    )


def still_off(restart_s: float) -> str:
    """Report that the worker does not draft although MTP is turned on and possible."""
    return N_("MTP is off: vLLM changes it with a restart{about}.", about=_about(restart_s))


def status_before_answers(kind: MtpKind, depth: int, speeds: DraftSpeeds, advice: str) -> str:
    """Describe before the first answer how the model drafts, and the gain that was measured.

    Args:
        advice: Explains why the model has no drafting of its own, if it has none.
    """
    if kind == "lookup":
        return advice or LOOKS_UP
    if kind not in {"embedded", "drafter"}:
        return advice
    if speeds.gain is None:
        return N_("This model can answer faster: {ahead}.", ahead=ahead(depth))
    gain = times(speeds.gain)
    if speeds.gain < PAYS:
        return N_("No gain on this computer: {gain} was measured.", gain=gain)
    return N_(
        "This model can answer faster: {ahead}, {gain} measured on this computer.",
        ahead=ahead(depth),
        gain=gain,
    )


def _about(seconds: float) -> str:
    return N_(", about {seconds} s", seconds=round(seconds)) if seconds >= 1 else ""
