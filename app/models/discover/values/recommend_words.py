"""The sentences of a recommendation: pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engines.memory.placement import cards_for
from engines.sentences import N_, joined
from engines.text import amount

if TYPE_CHECKING:
    from app.models.discover.values.placing import Computer, Placement
    from engines.memory.speed import Speed

_BUSY = 0.5


def speed_words(speed: Speed) -> str:
    """Describe how fast a model writes: "about 12 tokens a second"."""
    number = f"{speed.about:.0f}" if speed.about >= 2 else f"{speed.about:.1f}"
    if speed.at_least:
        return N_("at least {number} tokens a second", number=number)
    return N_("about {number} tokens a second", number=number)


def default_sentence(placing: Placement) -> str:
    """Return the reason for the default model."""
    where = {
        "graphics card": N_("It fits on the graphics card with room to spare"),
        "graphics card and processor": (
            N_(
                "About {share} of it fits on the graphics card, the rest in main memory",
                share=f"{placing.share:.0%}",
            )
        ),
        "processor": N_("It fits into the free memory with room to spare"),
    }[placing.device]
    return joined(" ", (placing.size.good_at, _runs(where, placing)))


def faster_sentence(placing: Placement, default: Placement) -> str:
    """Return the reason for the faster model."""
    times = placing.speed.about / default.speed.about
    less = N_(", and takes less memory") if placing.parts.total < default.parts.total else ""
    faster = N_("It writes about {times} times as fast{less}.", times=f"{times:.1f}", less=less)
    return joined(" ", (placing.size.good_at, faster))


def smarter_sentence(placing: Placement, default: Placement) -> str:
    """Return the reason for the smarter model."""
    price = {
        "fits": N_("It fits"),
        "tight": N_("It only just fits, so close other programs first"),
        "partial": N_(
            "About {share} of it fits on the graphics card, the rest in main memory",
            share=f"{placing.share:.0%}",
        ),
        "no": "",
    }[placing.verdict]
    if placing.speed.about >= default.speed.about:
        return joined(" ", (placing.size.good_at, _runs(price, placing)))
    slower = N_(
        "{price}, and writes {speed}, slower than the suggestion.",
        price=price,
        speed=speed_words(placing.speed),
    )
    return joined(" ", (placing.size.good_at, slower))


def _runs(where: str, placing: Placement) -> str:
    return N_("{where}, and writes {speed}.", where=where, speed=speed_words(placing.speed))


def mtp_sentence(placing: Placement) -> str:
    """Return a sentence on whether drafting ahead helps this model here."""
    mtp = placing.size.mtp
    if mtp.kind == "none" or mtp.help == "off":
        return mtp.why
    if not placing.on_one_device:
        return N_("Off. With a part of the model on the processor, guessing ahead rarely helps.")
    if mtp.kind == "embedded" and not (placing.variant.head or placing.size.drafter):
        return N_("Off. This file comes without the model's MTP head.")
    if not placing.parts.drafter:
        return N_("Off. There is no memory left for guessing ahead.")
    if mtp.help == "on":
        return N_("On. {why}", why=mtp.why)
    return N_("Automatic. {why}", why=mtp.why)


def note(
    computer: Computer,
    listed: int,
    picks: Sequence[Placement],
    too_large: Sequence[int],
    disk_free: int | None,
) -> str:
    """Return further advice for the user; "" if there is none.

    Args:
        listed: How many models there are to choose from.
        too_large: Sizes in bytes of the downloads that do not fit on the disk.
        disk_free: Free bytes on the disk; None if unknown.
    """
    hardware, room = computer.hardware, computer.room
    memory = hardware.memory
    limit = memory.limit_bytes or memory.total_bytes
    sentences = []
    if not picks:
        none = (
            N_(
                "No model on the list fits into the {size} of free memory",
                size=amount(memory.available_bytes),
            )
            if listed
            else N_("The list of models is empty")
        )
        sentences.append(
            N_(
                "{none}, so the small guide that comes with Hearth remains; it knows Hearth and "
                "little else.",
                none=none,
            )
        )
    if picks and not computer.bandwidth.sure:
        sentences.append(
            N_(
                "The computer was busy during the measurement, so these speeds are rough; "
                "they will be measured again later."
            )
        )
    if memory.limit_bytes:
        sentences.append(
            N_(
                "This container may use {size} of memory.",
                size=amount(memory.limit_bytes),
            )
        )
    if listed and memory.available_bytes < _BUSY * limit:
        sentences.append(
            N_(
                "Other programs and the system take {taken} of {total}; with some of them "
                "closed, a "
                "better model may fit.",
                taken=amount(limit - memory.available_bytes),
                total=amount(limit),
            )
        )
    idle = not room.gpus or (room.tiny and not any(placing.share for placing in picks))
    if idle and (cards := cards_for(hardware)):
        why = (
            N_("has too little memory free to help")
            if cards[0].total_bytes
            else N_("does not say how much memory it has")
        )
        sentences.append(
            N_("{name} {why}, so the processor does the work.", name=cards[0].name, why=why)
        )
    sentences += [
        N_("{name} is not used: {why_not}", name=gpu.name, why_not=gpu.why_not)
        for gpu in hardware.gpus
        if not gpu.usable and gpu.why_not and not gpu.integrated
    ]
    if too_large and disk_free is not None:
        sentences.append(
            N_(
                "The disk has {disk_free} free and up to {too_large} are needed, so make room "
                "there "
                "first.",
                disk_free=amount(disk_free),
                too_large=amount(max(too_large)),
            )
        )
    return joined(" ", sentences)
