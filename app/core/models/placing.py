"""Where a model of the catalogue would lie on a computer, what it takes and how fast it writes.

Pure; bytes. What is known before a file's header has been seen: an upper estimate of what
`engines.memory.fit` says exactly later. The engine's way to place a model is assumed: graphics
cards first, as many layers as they hold, the processor for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

from engines.memory.fit import Parts, Verdict
from engines.memory.placement import chosen
from engines.memory.speed import Reading, Speed, decoding_speed

if TYPE_CHECKING:
    from app.core.models.catalogue import File, Size, Variant
    from engines.hardware import Gpu, Hardware
    from engines.hardware.bandwidth import Bandwidth

Device = Literal["graphics card", "graphics card and processor", "processor"]

_EASY: Final = 0.85
"""A model that takes no more than this share of what is free leaves room for everything else."""
_EASY_OF_MUCH: Final = 0.8
_MUCH: Final = 16_000_000_000
_FITS: Final = 0.9
_MOST: Final = 0.97
_BATCH: Final = 512
# As in engines.memory.planner: what a driver takes on a card.
_CARD_RESERVE: Final = 512 << 20
_FIXED: Final = 16 << 20
_BYTES_PER_TOKEN: Final = 512
# What the widest step of a layer takes for each token, in widths of a token; an upper estimate.
_WIDTHS: Final = 20
_COPIES: Final = 3
# With less of the model than this on the card, handing over costs what the card gains.
_HARDLY: Final = 0.2
_TINY_CARD: Final = 2 << 30
# Metal gives one process about two thirds of a small Mac's memory and three quarters of a large's.
# Of the parameters; where fewer work for each token, they are experts.
_FEW: Final = 0.35
_LARGE_MAC: Final = 40 << 30

KnownSizes = Mapping[str, int]
"""Bytes that the Hub has told, by `Variant.name` and `file_key`."""


@dataclass(frozen=True)
class Room:
    """What is free on a computer. ram: for the processor. card: on all usable graphics together.

    shared: the cards' memory is a part of the computer's own. gpus: those that make up `card`.
    tiny: they hold so little that sharing a model with them is not worth it.
    """

    ram: int
    card: int
    shared: bool
    gpus: tuple[Gpu, ...]
    tiny: bool = False


@dataclass(frozen=True)
class Placed:
    """A file of the catalogue at its place on a computer.

    share: of the model on graphics cards, 0 to 1. have: free where it would lie. strain: the part
    of it that would be taken, of the memory that is shorter if there are two.
    rate_known: whether anybody knows how fast its memory is.
    """

    size: Size
    variant: Variant
    context: int
    parts: Parts
    share: float
    have: int
    strain: float
    easy_share: float
    verdict: Verdict
    speed: Speed
    rate_known: bool

    @property
    def device(self) -> Device:
        if self.share >= 1:
            return "graphics card"
        return "graphics card and processor" if self.share else "processor"

    @property
    def easy(self) -> bool:
        return self.strain <= self.easy_share

    @property
    def whole(self) -> bool:
        """Whether one device holds all of it."""
        return self.share in (0, 1)


@dataclass(frozen=True)
class Computer:
    """The computer and what is known of it, for placing one model after the other."""

    hardware: Hardware
    bandwidth: Bandwidth
    known: KnownSizes = field(default_factory=dict)

    @property
    def room(self) -> Room:
        ram = max(1, self.hardware.memory.available_bytes)
        gpus = chosen(self.hardware)
        shared = bool(gpus) and all(gpu.integrated for gpu in gpus)
        card = sum(_room(gpu, self.hardware) for gpu in gpus)
        if shared:
            return Room(ram, min(card, ram), shared, gpus)
        if not card:
            return Room(ram, 0, shared, ())
        return Room(ram, card, shared, gpus, tiny=card < _TINY_CARD and card < ram / 4)


def file_key(file: File) -> str:
    return f"{file.repo}/{file.pattern}"


def _room(gpu: Gpu, hardware: Hardware) -> int:
    total = hardware.memory.total_bytes
    if gpu.integrated and gpu.vendor == "apple":
        allowed = total * 2 // 3 if total < _LARGE_MAC else total * 3 // 4
        return min(allowed, gpu.total_bytes or total, gpu.free_bytes or total)
    free = gpu.total_bytes if gpu.free_bytes is None else gpu.free_bytes
    return max(0, (free or 0) - _CARD_RESERVE)


def place(ground: Computer, size: Size, variant: Variant, context: int) -> Placed:
    """The model with this context, with its drafter where that helps and its projector if it fits.

    The verdict is "no" where it does not fit.
    """
    room = ground.room
    plain = _parts(ground, size, variant, context)
    parts = replace(plain, drafter=_drafting(ground, size, variant))
    best = _placed(ground, room, size, variant, context, parts)
    if not (best.easy and best.whole):
        parts = plain
        best = _placed(ground, room, size, variant, context, parts)
    if size.projector is not None:
        sees = replace(parts, projector=file_bytes(ground, size.projector))
        with_it = _placed(ground, room, size, variant, context, sees)
        if with_it.easy and with_it.share == best.share:
            return with_it
    return best


def _parts(ground: Computer, size: Size, variant: Variant, context: int) -> Parts:
    shape = size.shape
    context = min(context, shape.context_max.value)
    kv = shape.kv.value * context
    window = 0
    if shape.window and shape.window_kv:
        window = min(context, shape.window.value + _BATCH)
        kv += shape.window_kv.value * window
    if shape.state:
        kv += shape.state.value
    masks = 2 * (context + window)
    compute = _BATCH * (4 * _WIDTHS * shape.width.value + masks) + 4 * shape.vocabulary.value
    return Parts(_weights(ground, variant), kv, compute + _tables(size))


def _weights(ground: Computer, variant: Variant) -> int:
    return ground.known.get(variant.name, round(variant.gb.value * 1e9))


def file_bytes(ground: Computer, file: File) -> int:
    """What the Hub says, or else the catalogue."""
    return ground.known.get(file_key(file), round(file.gb.value * 1e9))


def _tables(size: Size) -> int:
    """In the computer's own memory, wherever the model is."""
    return size.shape.vocabulary.value * _BYTES_PER_TOKEN + _FIXED


def _drafting(ground: Computer, size: Size, variant: Variant) -> int:
    if size.mtp.help == "off" or size.mtp.kind == "none":
        return 0
    if size.mtp.kind == "embedded" and not variant.head:
        return 0
    state = size.shape.state.value if size.shape.state else 0
    file = file_bytes(ground, size.drafter) if size.drafter and size.mtp.kind == "drafter" else 0
    return file + _COPIES * state + 64 * size.shape.vocabulary.value


def _placed(
    ground: Computer, room: Room, size: Size, variant: Variant, context: int, parts: Parts
) -> Placed:
    tables = _tables(size)
    share = 0.0
    if room.card:
        share = min(1.0, room.card / (parts.total - tables))
        cannot_split = room.tiny or (room.shared and not _is_mac(room))
        if share < _HARDLY or (share < 1 and cannot_split) or tables > _EASY * room.ram:
            share = 0.0
    if share >= 1 and not room.shared:
        # What is shown is the card's sum; the vocabulary's tables stay in the computer's memory.
        parts = replace(parts, compute=parts.compute - tables)
        have = room.card
        strain = parts.total / have
    elif share and not room.shared:
        have = room.card + room.ram
        strain = (parts.total - room.card) / room.ram
    else:
        # What a Mac lets its graphics use is not all that is free; elsewhere it is one memory.
        have = room.card if share >= 1 and _is_mac(room) else room.ram
        strain = parts.total / have
    speed, known = _speed(ground, room, size, parts, share)
    own = room.ram if share < 1 or room.shared else 0
    easy = max(_EASY * min(own, _MUCH), _EASY_OF_MUCH * own) / own if own else _EASY
    verdict = _verdict(strain, share)
    return Placed(size, variant, context, parts, share, have, strain, easy, verdict, speed, known)


def _is_mac(room: Room) -> bool:
    return any(gpu.vendor == "apple" for gpu in room.gpus)


def _verdict(strain: float, share: float) -> Verdict:
    if strain > _MOST:
        return "no"
    if 0 < share < 1:
        return "partial"
    return "tight" if strain > _FITS else "fits"


def _speed(
    ground: Computer, room: Room, size: Size, parts: Parts, share: float
) -> tuple[Speed, bool]:
    """The second is False where nobody knows how fast a graphics card is."""
    part = size.active.value / size.parameters.value
    bytes_ = parts.weights * part + parts.kv / 2
    experts = part < _FEW
    own = ground.bandwidth.memory
    readings = []
    at_least = False
    known = True
    if share < 1:
        readings.append(Reading(bytes_ * (1 - share), own, experts=experts))
    rooms = [max(1, _room(gpu, ground.hardware)) for gpu in room.gpus]
    for gpu, its in zip(room.gpus, rooms, strict=True) if share else ():
        rate = ground.bandwidth.card(gpu)
        known = known and (rate is not None or gpu.integrated)
        # An integrated unit reads what the processor reads, except Apple's, which read faster.
        as_card = not gpu.integrated or gpu.vendor == "apple"
        at_least = at_least or (rate is None and as_card)
        of_it = bytes_ * share * its / sum(rooms)
        readings.append(Reading(of_it, rate or own, as_card, experts))
    return decoding_speed(readings, at_least=at_least), known
