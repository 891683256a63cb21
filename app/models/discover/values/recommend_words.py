"""The sentences of a recommendation: pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engines.memory.placement import chosen
from engines.text import amount

if TYPE_CHECKING:
    from app.models.discover.values.placing import Computer, Placed
    from engines.memory.speed import Speed

_BUSY = 0.5


def speed_words(speed: Speed) -> str:
    """Describe how fast a model writes: "about 12 tokens a second"."""
    number = f"{speed.about:.0f}" if speed.about >= 2 else f"{speed.about:.1f}"
    if speed.at_least:
        return f"at least {number} tokens a second"
    return f"about {number} tokens a second"


def default_sentence(it: Placed) -> str:
    """Return the reason for the default model."""
    where = {
        "graphics card": "It fits on the graphics card with room to spare",
        "graphics card and processor": (
            f"About {it.share:.0%} of it fits on the graphics card, the rest in main memory"
        ),
        "processor": "It fits into the free memory with room to spare",
    }[it.device]
    return f"{it.size.good_at} {_runs(where, it)}"


def faster_sentence(it: Placed, default: Placed) -> str:
    """Return the reason for the faster model."""
    times = it.speed.about / default.speed.about
    less = ", and takes less memory" if it.parts.total < default.parts.total else ""
    faster = f"It writes about {times:.1f} times as fast{less}."
    return f"{it.size.good_at} {faster}"


def smarter_sentence(it: Placed, default: Placed) -> str:
    """Return the reason for the smarter model."""
    price = {
        "fits": "It fits",
        "tight": "It only just fits, so close other programs first",
        "partial": f"About {it.share:.0%} of it fits on the graphics card, the rest in main memory",
        "no": "",
    }[it.verdict]
    if it.speed.about >= default.speed.about:
        return f"{it.size.good_at} {_runs(price, it)}"
    slower = f"{price}, and writes {speed_words(it.speed)}, slower than the suggestion."
    return f"{it.size.good_at} {slower}"


def _runs(where: str, it: Placed) -> str:
    return f"{where}, and writes {speed_words(it.speed)}."


def mtp_sentence(it: Placed) -> str:
    """Return a sentence on whether drafting ahead helps this model here."""
    mtp = it.size.mtp
    if mtp.kind == "none" or mtp.help == "off":
        return mtp.why
    if not it.whole:
        return "Off: with a part of the model on the processor, guessing ahead rarely helps."
    if mtp.kind == "embedded" and not (it.variant.head or it.size.drafter):
        return "Off: this file comes without the model's MTP head."
    if not it.parts.drafter:
        return "Off: there is no memory left for guessing ahead."
    why = mtp.why[:1].lower() + mtp.why[1:]
    return f"On: {why}" if mtp.help == "on" else f"Automatic: {why}"


def note(
    computer: Computer,
    listed: int,
    picks: Sequence[Placed],
    too_large: Sequence[int],
    disk_free: int | None,
) -> str:
    """Return what else the user should know; "" if nothing.

    Args:
        listed: How many models there are to choose from.
        too_large: Sizes in bytes of the downloads that do not fit on the disk.
        disk_free: Free bytes on the disk; None if unknown.
    """
    hardware, room = computer.hardware, computer.room
    memory = hardware.memory
    limit = memory.limit_bytes or memory.total_bytes
    said = []
    if not picks:
        none = (
            f"No model of the list fits into the {amount(memory.available_bytes)} that are free"
            if listed
            else "The list of models is empty"
        )
        said.append(
            f"{none}, so the small guide that comes with Hearth remains; "
            "it knows Hearth and little else."
        )
    if picks and not computer.bandwidth.sure:
        said.append(
            "The computer was busy during the measurement, so these speeds are rough; "
            "they will be measured again later."
        )
    if memory.limit_bytes:
        said.append(f"This container may use {amount(memory.limit_bytes)} of memory.")
    if listed and memory.available_bytes < _BUSY * limit:
        said.append(
            f"Other programs and the system take {amount(limit - memory.available_bytes)} of "
            f"{amount(limit)}; with some of them closed, a better model may fit."
        )
    idle = not room.gpus or (room.tiny and not any(it.share for it in picks))
    if idle and (cards := chosen(hardware)):
        why = (
            "has too little memory free to help"
            if cards[0].total_bytes
            else "does not say how much memory it has"
        )
        said.append(f"{cards[0].name} {why}, so the processor does the work.")
    said += [
        f"{gpu.name} is not used: {gpu.why_not}"
        for gpu in hardware.gpus
        if not gpu.usable and gpu.why_not and not gpu.integrated
    ]
    if too_large and disk_free is not None:
        said.append(
            f"The disk has {amount(disk_free)} free and up to {amount(max(too_large))} are needed, "
            "so make room there first."
        )
    return " ".join(said)
