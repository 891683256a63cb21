"""Places a model of the catalogue on a computer: its devices, its memory and its speed.

The memory and the devices are the engine's own estimate and plan, based on the catalogue in place
of the file's header. This module adds what a recommendation needs beyond that: room for other
programs, a model in one piece, and a good estimate of its speed. Pure; sizes are in bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from app.models.discover.values.catalogue_header import drafter_header, header_of
from engines.memory.fit import Parts, Split, Verdict
from engines.memory.load_options import LoadOptions
from engines.memory.placement import cards_for, share_on_cards, usable_bytes
from engines.memory.planner import DrafterFile, check, make_plan
from engines.memory.speed import Reading, Speed, decoding_speed

if TYPE_CHECKING:
    from app.models.discover.values.catalogue import CatalogueVariant, File, Size
    from engines.hardware import Gpu, Hardware
    from engines.hardware.bandwidth import Bandwidth
    from engines.models.gguf.header import GgufHeader
    from engines.types import LlamaPlan

Device = Literal["graphics card", "graphics card and processor", "processor"]

_ROOMY: Final = 0.85
"""A model that takes at most this share of the free memory leaves room for other programs."""
_ROOMY_OF_MUCH: Final = 0.8
_MUCH: Final = 16_000_000_000
_MOST: Final = 0.97
"""The largest share of the free memory that is recommended.

The free memory changes before the download ends.
"""
_TINY_CARD: Final = 2 << 30
# The share of active parameters below which a model is a mixture of experts.
_FEW: Final = 0.35

KnownSizes = Mapping[str, int]
"""Sizes in bytes from the Hub, by `CatalogueVariant.name` and `file_key`."""


@dataclass(frozen=True)
class FreeMemory:
    """The free memory of a computer, in bytes.

    Attributes:
        ram: Free for the processor.
        card: Free on all usable graphics cards together.
        shared: Whether the cards' memory is part of the computer's own.
        gpus: The cards that make up `card`.
        tiny: Whether the cards have very little memory compared with the computer.
        whole_only: Whether a model that does not fit on the cards as a whole should run on the
            processor.
    """

    ram: int
    card: int
    shared: bool
    gpus: tuple[Gpu, ...]
    tiny: bool = False
    whole_only: bool = False


@dataclass(frozen=True)
class Placement:
    """The place of a catalogue variant on a computer: its devices, memory and speed.

    Attributes:
        parts: The memory that it takes; only that of the card, for a model that is all on a card.
        share: The share of the model on graphics cards, from 0 to 1.
        have: Bytes that are free in its place.
        strain: The share of the free memory that it takes; with two memories, that of the scarcer
            one.
        roomy_share: The largest strain that leaves room for other programs.
        rate_known: Whether the speed of its memory is known.
        idle_card: Whether a graphics card of some size would have nothing to do.
    """

    size: Size
    variant: CatalogueVariant
    context: int
    parts: Parts
    share: float
    have: int
    strain: float
    roomy_share: float
    verdict: Verdict
    speed: Speed
    rate_known: bool
    idle_card: bool = False

    @property
    def device(self) -> Device:
        """The devices that would hold the model."""
        if self.share >= 1:
            return "graphics card"
        return "graphics card and processor" if self.share else "processor"

    @property
    def leaves_room(self) -> bool:
        """True if it leaves room for other programs."""
        return self.strain <= self.roomy_share

    @property
    def on_one_device(self) -> bool:
        """True if one device holds all of it."""
        return self.share in (0, 1)


@dataclass(frozen=True)
class Computer:
    """A computer and the facts known about it, for placing one model after another."""

    hardware: Hardware
    bandwidth: Bandwidth
    known_sizes: KnownSizes = field(default_factory=dict)

    @cached_property
    def room(self) -> FreeMemory:
        """The memory that is free at the moment, by device."""
        ram = max(1, self.hardware.memory.available_bytes)
        gpus = cards_for(self.hardware)
        card = sum(map(usable_bytes, gpus))
        if any(gpu.integrated for gpu in gpus):
            # Apple's GPU reads the shared memory faster than the processor; others read as fast.
            return FreeMemory(ram, max(1, card), True, gpus, whole_only=not _is_mac(gpus))
        tiny = card < _TINY_CARD and card < ram / 4
        return FreeMemory(ram, card, False, gpus if card else (), tiny, whole_only=tiny)


def file_key(file: File) -> str:
    """Return the key of a file in `KnownSizes`."""
    return f"{file.repo}/{file.pattern}"


def file_bytes(computer: Computer, file: File) -> int:
    """Return a file's size as the Hub reports it, otherwise as the catalogue does."""
    return computer.known_sizes.get(file_key(file), round(file.gb.value * 1e9))


def variant_bytes(computer: Computer, variant: CatalogueVariant) -> int:
    """Return a variant's size as the Hub reports it, otherwise as the catalogue does."""
    return computer.known_sizes.get(variant.name, round(variant.gb.value * 1e9))


@dataclass(frozen=True)
class _Model:
    """A variant of the catalogue, as the planner needs it.

    Attributes:
        drafts: Whether drafting ahead helps.
    """

    size: Size
    variant: CatalogueVariant
    header: GgufHeader
    drafts: bool
    drafter: DrafterFile | None


def place(computer: Computer, size: Size, variant: CatalogueVariant, context: int) -> Placement:
    """Place a model with this context, and with its drafter if that helps.

    The verdict is "no" if it does not fit.
    """
    model = _model(computer, size, variant)
    plan = _plan(computer, model, context, drafts=model.drafts)
    best = _placed(computer, model, context, plan)
    if model.drafts and not (best.leaves_room and best.on_one_device):
        plan = _plan(computer, model, context, drafts=False)
        best = _placed(computer, model, context, plan)
    return best


def _model(computer: Computer, size: Size, variant: CatalogueVariant) -> _Model:
    weights = variant_bytes(computer, variant)
    head = size.mtp.kind == "embedded" and variant.head
    file = size.drafter_of(variant)
    drafter = None
    if file is not None:
        drafter = DrafterFile(Path(file.pattern), drafter_header(size, file_bytes(computer, file)))
    drafts = size.mtp.help != "off" and (head or drafter is not None)
    return _Model(size, variant, header_of(size, weights, head=head), drafts, drafter)


def _plan(computer: Computer, model: _Model, context: int, *, drafts: bool) -> LlamaPlan:
    options = LoadOptions(context=min(context, model.header.context_max), mtp=drafts)

    def planned(options: LoadOptions) -> LlamaPlan:
        path = Path(model.variant.name)
        return make_plan(path, model.header, computer.hardware, options, model.drafter)

    plan = planned(options)
    if plan.gpu_layers > 0 and computer.room.whole_only:
        return planned(replace(options, gpu_layers=0))
    return plan


def _placed(computer: Computer, model: _Model, context: int, plan: LlamaPlan) -> Placement:
    room, header = computer.room, model.header
    drafter_header_ = model.drafter.header if model.drafter and plan.draft_max else None
    fit = check(header, computer.hardware, plan, drafter_header_)
    share = share_on_cards(plan, header)
    on_card = share >= 1 and not room.shared
    parts = fit.split.gpu if on_card else fit.split.parts
    strain = _strain(room, fit.split, share)
    verdict: Verdict = "no" if strain > _MOST else fit.verdict
    if verdict != "no" and 0 < share < 1:
        verdict = "partial"
    roomy_share = _ROOMY if on_card else _roomy_share(room.ram)
    speed, rate_known = _speed(computer, model.size, parts, share)
    return Placement(
        model.size,
        model.variant,
        context,
        parts,
        share,
        fit.have_bytes,
        strain,
        roomy_share,
        verdict,
        speed,
        rate_known,
        idle_card=not share and bool(room.gpus) and not (room.shared or room.tiny),
    )


def _strain(room: FreeMemory, split: Split, share: float) -> float:
    """Return the share of free memory that is taken; cards count only if they hold all of it."""
    own = split.parts.total if room.shared else split.ram.total
    # A Mac lets its graphics use only part of the free memory.
    limited = share >= 1 and (not room.shared or _is_mac(room.gpus))
    return max(own / room.ram, split.gpu.total / room.card if limited else 0.0)


def _roomy_share(ram: int) -> float:
    return max(_ROOMY * min(ram, _MUCH), _ROOMY_OF_MUCH * ram) / ram


def _speed(computer: Computer, size: Size, parts: Parts, share: float) -> tuple[Speed, bool]:
    """Estimate the speed.

    Returns:
        The speed, and whether the memory rate of every graphics card is known.
    """
    part = size.active.value / size.parameters.value
    bytes_ = parts.weights * part + parts.kv / 2
    experts = part < _FEW
    own = computer.bandwidth.memory
    readings = []
    at_least = False
    rates_known = True
    if share < 1:
        readings.append(Reading(bytes_ * (1 - share), own, experts=experts))
    gpus = computer.room.gpus
    rooms = [max(1, usable_bytes(gpu)) for gpu in gpus]
    for gpu, gpu_room in zip(gpus, rooms, strict=True) if share else ():
        rate = computer.bandwidth.card(gpu)
        rates_known = rates_known and (rate is not None or gpu.integrated)
        # An integrated GPU reads as fast as the processor, except Apple's, which read faster.
        as_card = not gpu.integrated or gpu.vendor == "apple"
        at_least = at_least or (rate is None and as_card)
        bytes_on_gpu = bytes_ * share * gpu_room / sum(rooms)
        readings.append(Reading(bytes_on_gpu, rate or own, as_card, experts))
    return decoding_speed(readings, at_least=at_least), rates_known


def _is_mac(gpus: Iterable[Gpu]) -> bool:
    return any(gpu.vendor == "apple" for gpu in gpus)
