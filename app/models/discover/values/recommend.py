"""Recommends the models that suit a computer, with the reason and the memory sum: pure.

recommendation = recommend(hardware, load_catalogue(text), bandwidth)
if pick := recommendation.default:
    print(pick.sentence, pick.command)

The rule, in the order in which it decides:

1. A model counts with the context that Hearth would give it, its compute buffers, and its drafter
   if drafting helps; compared with the memory that is *free* now.
2. The default is the best everyday model (`Size.everyday`) that leaves a seventh of the free memory
   to other programs (a fifth of a large memory) and writes about as fast as people read. "Best"
   means the catalogue's quality. Eight bits count a little more than four if they are still fast.
   A model that does not fit on a card as a whole counts less: it reads prompts slowly, and it is a
   large download compared with models that the card runs at once. If none is that fast, the default
   is the fastest.
3. The faster one writes at least a third faster and fits; it is the best of those.
4. The smarter one can be tight or shared; it is better and larger than the default, and writes at
   least a quarter as fast and at least four tokens a second.
5. If nothing fits, the built-in model remains, and the note says so.

More memory of one kind never leads to a smaller default, with one intended exception: a model that
now fits on a card as a whole is preferred to a larger model in the computer's memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.models.discover.values.placing import (
    Computer,
    Device,
    KnownSizes,
    Placement,
    file_bytes,
    place,
    variant_bytes,
)
from app.models.discover.values.recommend_words import (
    default_sentence,
    faster_sentence,
    mtp_sentence,
    note,
    smarter_sentence,
)
from app.models.library.values.quantisations import quantisation_of

if TYPE_CHECKING:
    from app.models.discover.values.catalogue import Catalogue, Family, Licence, Size
    from engines.hardware import Hardware
    from engines.hardware.bandwidth import Bandwidth
    from engines.memory.fit import Parts, Verdict
    from engines.memory.speed import Speed

CONTEXT: Final = 8192
SHORT_CONTEXT: Final = 4096
_READING: Final = 8.0
"""The speed at which most people read, in tokens per second."""
_BEARABLE: Final = 4.0
_QUICK: Final = 15.0
_FASTER: Final = 1.33
_FAST: Final = 40.0
_FASTER_THAN_FAST: Final = 1.1
_SLOWEST: Final = 4
_SHARED: Final = 30
_EIGHT_BITS: Final = 4


@dataclass(frozen=True)
class Pick:
    """A model to download.

    Attributes:
        family: The family's name.
        name: The model's name.
        variant: Its quantisation.
        sentence: The reason, for the user.
        share: The share of the model on graphics cards, from 0 to 1.
        parts: The memory that it takes, in bytes.
        in_use: Bytes in that place that others already use.
        need: The sum of `parts`.
        have: Bytes in that place that are free.
        speed: The speed of writing.
        disk_bytes: Size of the download.
        disk_fits: Whether the disk has room for the download.
        about: Whether the sizes come from the catalogue and not from the Hub.
        projector_bytes: Size of the file with which it sees, which `disk_bytes` does not include.
    """

    size_id: str
    family: str
    name: str
    repo: str
    variant: str
    sentence: str
    verdict: Verdict
    context: int
    device: Device
    share: float
    parts: Parts
    in_use: int
    need: int
    have: int
    speed: Speed
    disk_bytes: int
    disk_fits: bool
    licence: Licence
    mtp: str
    about: bool
    projector_bytes: int = 0
    engine: str = "llamacpp"

    @property
    def command(self) -> str:
        """The command that downloads it."""
        return f"hearth models pull {self.repo}:{self.variant}"

    @property
    def tokens_per_s(self) -> float:
        """The expected speed of writing, in tokens per second."""
        return self.speed.about


@dataclass(frozen=True)
class Recommendation:
    """Up to three recommended models, and all others.

    Attributes:
        note: Further advice for the user; "" if there is none.
        listed: All models of the catalogue that write, each in the variant that suits this computer
            best, and in that order: slow ones come after the others, and last those that do not
            fit, whose verdict is "no".
    """

    default: Pick | None
    faster: Pick | None = None
    smarter: Pick | None = None
    note: str = ""
    listed: tuple[Pick, ...] = ()

    @property
    def picks(self) -> tuple[Pick, ...]:
        """The models that were found, the default first."""
        return tuple(pick for pick in (self.default, self.faster, self.smarter) if pick)


def recommend(
    hardware: Hardware,
    catalogue: Catalogue,
    bandwidth: Bandwidth,
    known_sizes: KnownSizes | None = None,
    disk_free: int | None = None,
) -> Recommendation:
    """Recommend a default model and two alternatives.

    Args:
        known_sizes: See `placing.KnownSizes`.
        disk_free: Free bytes on the disk; None if unknown.
    """
    computer = Computer(hardware, bandwidth, known_sizes or {})
    families = {size.id: family for family in catalogue.families for size in family.sizes}
    writing = [size for size in catalogue.sizes.values() if size.role != "embedding"]
    placings = {size.id: tuple(_placings(computer, size)) for size in writing}
    sizes = [size for size in writing if size.role == "chat"]
    placed = [placing for size in sizes for placing in placings[size.id]]
    default = _default(placed)
    faster = _faster(placed, default) if default else None
    smarter = _smarter(placed, default) if default else None
    chosen = [placing for placing in (default, faster, smarter) if placing]

    def pick(placing: Placement | None, sentence: str) -> Pick | None:
        return (
            _pick(computer, families[placing.size.id], placing, sentence, disk_free)
            if placing
            else None
        )

    picks = (
        pick(default, default_sentence(default) if default else ""),
        pick(faster, faster_sentence(faster, default) if faster and default else ""),
        pick(smarter, smarter_sentence(smarter, default) if smarter and default else ""),
    )
    disk = [pick_.disk_bytes for pick_ in picks if pick_ and not pick_.disk_fits]
    recommended = {placing.size.id: placing for placing in chosen}
    listed = [
        recommended.get(size.id) or _best_of_size(computer, size, placings[size.id])
        for size in writing
    ]
    return Recommendation(
        *picks,
        note(computer, len(sizes), chosen, disk, disk_free),
        tuple(
            _pick(computer, families[placing.size.id], placing, placing.size.good_at, disk_free)
            for placing in sorted(listed, key=_rank)
        ),
    )


def _placings(computer: Computer, size: Size) -> Iterable[Placement]:
    """Place each variant of a model that fits, with the long context if that fits easily.

    The short context is used instead if only it fits at all, fits easily, or fits on one device.
    """
    room = computer.room
    for variant in size.variants:
        if variant_bytes(computer, variant) > room.ram + room.card:
            continue  # on most computers few variants fit, so this saves most of the time
        placing = place(computer, size, variant, CONTEXT)
        if not (placing.leaves_room and placing.on_one_device):
            shorter = place(computer, size, variant, SHORT_CONTEXT)
            better = shorter.leaves_room and (shorter.on_one_device or not placing.leaves_room)
            placing = shorter if placing.verdict == "no" or better else placing
        if placing.verdict != "no":
            yield placing


def _best_of_size(computer: Computer, size: Size, placings: Sequence[Placement]) -> Placement:
    """Return the best place of a model; that of its smallest variant if none fits."""
    if placings:
        return max(placings, key=lambda placing: (placing.leaves_room, _quality(placing)))
    smallest = min(size.variants, key=lambda variant: variant_bytes(computer, variant))
    return place(computer, size, smallest, SHORT_CONTEXT)


def _rank(placing: Placement) -> tuple[bool, bool, int, int]:
    """Return the key by which the models of the catalogue are ordered, the best here first."""
    by_fit = ("fits", "tight", "partial", "no").index(placing.verdict)
    return placing.verdict == "no", not _reaches(placing, _BEARABLE), by_fit, -_quality(placing)


def _quality(placing: Placement) -> int:
    """Rate how good a model is in this place."""
    quality = placing.size.quality.value
    if not placing.on_one_device or placing.idle_card:
        return quality - _SHARED
    exact = (
        quantisation_of(placing.variant.quantisation).depth >= 8 and placing.speed.about >= _QUICK
    )
    return quality + _EIGHT_BITS if exact else quality


def _default(placed: Iterable[Placement]) -> Placement | None:
    roomy = [placing for placing in placed if placing.leaves_room]
    # An organisation's own catalogue can lack everyday models.
    roomy = [placing for placing in roomy if placing.size.everyday] or roomy
    quick = [placing for placing in roomy if _reaches(placing, _READING)]
    if quick:
        return max(quick, key=_quality)
    return max(roomy, key=lambda placing: placing.speed.about, default=None)


def _reaches(placing: Placement, tokens_per_s: float) -> bool:
    """Return whether it is fast enough; a card of unknown speed counts as fast."""
    return placing.speed.about >= tokens_per_s or (placing.share >= 1 and not placing.rate_known)


def _faster(placed: Iterable[Placement], default: Placement) -> Placement | None:
    times = _FASTER if default.speed.about < _FAST else _FASTER_THAN_FAST
    return max(
        (
            placing
            for placing in placed
            if placing.leaves_room
            and placing.on_one_device
            and placing.size.id != default.size.id
            and placing.size.quality.value < default.size.quality.value
            and placing.speed.about >= times * default.speed.about
            and placing.parts.total <= default.parts.total
        ),
        key=_quality,
        default=None,
    )


def _smarter(placed: Iterable[Placement], default: Placement) -> Placement | None:
    slowest = max(_BEARABLE, default.speed.about / _SLOWEST)
    better = default.size.quality.value
    return max(
        (
            placing
            for placing in placed
            if placing.size.quality.value > better
            and _is_larger(placing.size, default.size)
            and _reaches(placing, slowest)
        ),
        key=_quality,
        default=None,
    )


def _is_larger(one: Size, other: Size) -> bool:
    """Return whether a model has more parameters, in all or active, than another."""
    return one.parameters.value > other.parameters.value or one.active.value > other.active.value


def _pick(
    computer: Computer, family: Family, placing: Placement, sentence: str, disk_free: int | None
) -> Pick:
    size, parts = placing.size, placing.parts
    file = size.drafter_of(placing.variant) if parts.drafter else None
    disk = parts.weights + (file_bytes(computer, file) if file else 0)
    return Pick(
        size_id=size.id,
        family=family.name,
        name=size.name,
        repo=placing.variant.repo,
        variant=placing.variant.quantisation,
        sentence=sentence,
        verdict=placing.verdict,
        context=placing.context,
        device=placing.device,
        share=placing.share,
        parts=parts,
        in_use=_in_use(computer, placing),
        need=parts.total,
        have=placing.have,
        speed=placing.speed,
        disk_bytes=disk,
        disk_fits=disk_free is None or disk <= disk_free,
        licence=family.licence_of(size),
        mtp=mtp_sentence(placing),
        about=placing.variant.name not in computer.known_sizes,
        projector_bytes=file_bytes(computer, size.projector) if size.projector else 0,
    )


def _in_use(computer: Computer, placing: Placement) -> int:
    """Return how many bytes others use of the memory where the model would be."""
    memory = computer.hardware.memory
    own = (memory.limit_bytes or memory.total_bytes) - memory.available_bytes
    room = computer.room
    cards = sum(
        gpu.total_bytes - gpu.free_bytes
        for gpu in room.gpus
        if gpu.total_bytes is not None and gpu.free_bytes is not None
    )
    if room.shared or not placing.share:
        return max(0, own)
    return max(0, cards) if placing.share >= 1 else max(0, cards) + max(0, own)
