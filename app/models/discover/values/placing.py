"""Places a model of the catalogue on a computer: where it lies, its memory and its speed.

What it takes and where it goes is the engine's own estimate and plan, from what the catalogue says
in place of the file's header. Here is what a recommendation asks beyond that: room for everything
else, a model in one piece, and a good guess at its speed. Pure; bytes.
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
from engines.memory.placement import chosen, room, share_on_cards
from engines.memory.planner import DrafterFile, check, make_plan
from engines.memory.speed import Reading, Speed, decoding_speed

if TYPE_CHECKING:
    from app.models.discover.values.catalogue import CatalogueVariant, File, Size
    from engines.hardware import Gpu, Hardware
    from engines.hardware.bandwidth import Bandwidth
    from engines.models.gguf.header import GgufHeader
    from engines.types import LoadPlan

Device = Literal["graphics card", "graphics card and processor", "processor"]

_EASY: Final = 0.85
"""A model that takes no more than this share of what is free leaves room for everything else."""
_EASY_OF_MUCH: Final = 0.8
_MUCH: Final = 16_000_000_000
_MOST: Final = 0.97
"""More than this of what is free is not recommended: what is free changes until the download."""
_TINY_CARD: Final = 2 << 30
# Of the parameters; where fewer work for each token, they are experts.
_FEW: Final = 0.35

KnownSizes = Mapping[str, int]
"""Bytes that the Hub has told, by `Variant.name` and `file_key`."""


@dataclass(frozen=True)
class FreeMemory:
    """The free memory of a computer. ram: for the processor. card: on all usable graphics together.

    shared: the cards' memory is a part of the computer's own. gpus: those that make up `card`.
    whole_only: a model that does not go to them whole had better go to the processor.
    """

    ram: int
    card: int
    shared: bool
    gpus: tuple[Gpu, ...]
    tiny: bool = False
    whole_only: bool = False


@dataclass(frozen=True)
class Placed:
    """A file of the catalogue at its place on a computer.

    parts: what it takes there; of a model that is all on a card what it takes of the card.
    share: of the model on graphics cards, 0 to 1. have: free where it would lie. strain: the part
    of it that would be taken, of the memory that is shorter if there are two.
    rate_known: whether anybody knows how fast its memory is. idle_card: a graphics card of some
    size would have nothing to do.
    """

    size: Size
    variant: CatalogueVariant
    context: int
    parts: Parts
    share: float
    have: int
    strain: float
    easy_share: float
    verdict: Verdict
    speed: Speed
    rate_known: bool
    idle_card: bool = False

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
    """A computer and what is known of it, for placing one model after the other."""

    hardware: Hardware
    bandwidth: Bandwidth
    known: KnownSizes = field(default_factory=dict)

    @cached_property
    def room(self) -> FreeMemory:
        ram = max(1, self.hardware.memory.available_bytes)
        gpus = chosen(self.hardware)
        card = sum(map(room, gpus))
        if any(gpu.integrated for gpu in gpus):
            # Apple's unit reads the one memory faster than the processor does, others as fast.
            return FreeMemory(ram, max(1, card), True, gpus, whole_only=not _is_mac(gpus))
        tiny = card < _TINY_CARD and card < ram / 4
        return FreeMemory(ram, card, False, gpus if card else (), tiny, whole_only=tiny)


def file_key(file: File) -> str:
    return f"{file.repo}/{file.pattern}"


def file_bytes(computer: Computer, file: File) -> int:
    """Return a file's size as the Hub tells it, or else the catalogue."""
    return computer.known.get(file_key(file), round(file.gb.value * 1e9))


def variant_bytes(computer: Computer, variant: CatalogueVariant) -> int:
    """Return a variant's size as the Hub tells it, or else the catalogue."""
    return computer.known.get(variant.name, round(variant.gb.value * 1e9))


@dataclass(frozen=True)
class _Model:
    """A file of the catalogue as the planner takes it. drafts: whether drafting ahead helps."""

    size: Size
    variant: CatalogueVariant
    header: GgufHeader
    drafts: bool
    drafter: DrafterFile | None


def place(computer: Computer, size: Size, variant: CatalogueVariant, context: int) -> Placed:
    """Place the model with this context, and its drafter where that helps.

    The verdict is "no" where it does not fit.
    """
    model = _model(computer, size, variant)
    plan = _plan(computer, model, context, drafts=model.drafts)
    best = _placed(computer, model, context, plan)
    if model.drafts and not (best.easy and best.whole):
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


def _plan(computer: Computer, model: _Model, context: int, *, drafts: bool) -> LoadPlan:
    options = LoadOptions(context=min(context, model.header.context_max), mtp=drafts)

    def planned(options: LoadOptions) -> LoadPlan:
        path = Path(model.variant.name)
        return make_plan(path, model.header, computer.hardware, options, model.drafter)

    plan = planned(options)
    if plan.gpu_layers > 0 and computer.room.whole_only:
        return planned(replace(options, gpu_layers=0))
    return plan


def _placed(computer: Computer, model: _Model, context: int, plan: LoadPlan) -> Placed:
    room, header = computer.room, model.header
    its = model.drafter.header if model.drafter and plan.draft_max else None
    fit = check(header, computer.hardware, plan, its)
    share = share_on_cards(plan, header)
    on_card = share >= 1 and not room.shared
    parts = fit.split.gpu if on_card else fit.split.parts
    strain = _strain(room, fit.split, share)
    verdict: Verdict = "no" if strain > _MOST else fit.verdict
    if verdict != "no" and 0 < share < 1:
        verdict = "partial"
    easy = _EASY if on_card else _easy_share(room.ram)
    speed, known = _speed(computer, model.size, parts, share)
    return Placed(
        model.size,
        model.variant,
        context,
        parts,
        share,
        fit.have_bytes,
        strain,
        easy,
        verdict,
        speed,
        known,
        idle_card=not share and bool(room.gpus) and not (room.shared or room.tiny),
    )


def _strain(room: FreeMemory, split: Split, share: float) -> float:
    """Return the part of free memory that is taken; of cards only where they hold all of it."""
    own = split.parts.total if room.shared else split.ram.total
    # What a Mac lets its graphics use is not all that is free.
    limited = share >= 1 and (not room.shared or _is_mac(room.gpus))
    return max(own / room.ram, split.gpu.total / room.card if limited else 0.0)


def _easy_share(ram: int) -> float:
    return max(_EASY * min(ram, _MUCH), _EASY_OF_MUCH * ram) / ram


def _speed(computer: Computer, size: Size, parts: Parts, share: float) -> tuple[Speed, bool]:
    """Estimate the speed; the second value is False if a graphics card's rate is unknown."""
    part = size.active.value / size.parameters.value
    bytes_ = parts.weights * part + parts.kv / 2
    experts = part < _FEW
    own = computer.bandwidth.memory
    readings = []
    at_least = False
    known = True
    if share < 1:
        readings.append(Reading(bytes_ * (1 - share), own, experts=experts))
    gpus = computer.room.gpus
    rooms = [max(1, room(gpu)) for gpu in gpus]
    for gpu, its in zip(gpus, rooms, strict=True) if share else ():
        rate = computer.bandwidth.card(gpu)
        known = known and (rate is not None or gpu.integrated)
        # An integrated unit reads what the processor reads, except Apple's, which read faster.
        as_card = not gpu.integrated or gpu.vendor == "apple"
        at_least = at_least or (rate is None and as_card)
        of_it = bytes_ * share * its / sum(rooms)
        readings.append(Reading(of_it, rate or own, as_card, experts))
    return decoding_speed(readings, at_least=at_least), known


def _is_mac(gpus: Iterable[Gpu]) -> bool:
    return any(gpu.vendor == "apple" for gpu in gpus)
