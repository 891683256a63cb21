"""Recommends the models that suit a computer, with the reason and the memory sum: pure.

it = recommend(hardware, load_catalogue(text), bandwidth)
if it.default:
    print(it.default.sentence, it.default.command)

The rule, in the order in which it decides:

1. A model counts with the context that Hearth would give it, its computing buffers, its drafter
   where drafting helps; against what is *free* now.
2. The default is the best of those for every day (`Size.everyday`) that leaves a seventh of the
   free memory to other programs (a fifth of much) and writes about as fast as people read. "Best"
   is the catalogue's quality; eight bits count a little more than four where they are quick all the
   same, and a model that a card does not hold whole counts less: it reads prompts slowly, and it is
   a large download for what the card does at once. If none is that quick, it is the quickest.
3. The faster one writes at least a third faster and fits; of those it is the best.
4. The smarter one may be tight or shared; it is better than the default, and larger, and not
   slower than a fifth of it.
5. Where nothing fits, the guide that Hearth brings along remains, and the note says so.

More memory of one kind never leads to a smaller default, with one exception that is meant: a card
that comes to hold a whole model is preferred to a larger model beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.models.discover.values.placing import (
    Computer,
    Device,
    KnownSizes,
    Placed,
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
"""Tokens a second that most people read at."""
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
    """A model to get. sentence: why, for people.

    family, name: as people call them. variant: its quantisation. command: what gets it.
    parts, need: what it takes, of `have` that is free there; in_use: what is taken there already.
    share: of the model on graphics cards. speed: of writing. disk_bytes: to download; disk_fits:
    whether there is room for that. about: whether the sizes of the files are the catalogue's, and
    not the Hub's. projector_bytes: of the file with which it sees, which is not among them.
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
        return f"hearth models pull {self.repo}:{self.variant}"

    @property
    def tokens_per_s(self) -> float:
        return self.speed.about


@dataclass(frozen=True)
class Recommendation:
    """Up to three recommended models. note: what else a person should know, or ""."""

    default: Pick | None
    faster: Pick | None = None
    smarter: Pick | None = None
    note: str = ""

    @property
    def picks(self) -> tuple[Pick, ...]:
        return tuple(pick for pick in (self.default, self.faster, self.smarter) if pick)


def recommend(
    hardware: Hardware,
    catalogue: Catalogue,
    bandwidth: Bandwidth,
    known_sizes: KnownSizes | None = None,
    disk_free: int | None = None,
) -> Recommendation:
    """Recommend a default model and two alternatives.

    known_sizes: see `placing.KnownSizes`. disk_free: bytes, None if that is not known.
    """
    computer = Computer(hardware, bandwidth, known_sizes or {})
    families = {size.id: family for family in catalogue.families for size in family.sizes}
    sizes = [size for size in catalogue.sizes.values() if size.role == "chat"]
    placed = [it for size in sizes for it in _placings(computer, size)]
    default = _default(placed)
    faster = _faster(placed, default) if default else None
    smarter = _smarter(placed, default) if default else None
    chosen = [it for it in (default, faster, smarter) if it]

    def pick(it: Placed | None, sentence: str) -> Pick | None:
        return _pick(computer, families[it.size.id], it, sentence, disk_free) if it else None

    picks = (
        pick(default, default_sentence(default) if default else ""),
        pick(faster, faster_sentence(faster, default) if faster and default else ""),
        pick(smarter, smarter_sentence(smarter, default) if smarter and default else ""),
    )
    disk = [it.disk_bytes for it in picks if it and not it.disk_fits]
    return Recommendation(*picks, note(computer, len(sizes), chosen, disk, disk_free))


def _placings(computer: Computer, size: Size) -> Iterable[Placed]:
    """Place each file of a model that fits, with the longer context that fits easily.

    The shorter one, where only with that a card holds all of it.
    """
    room = computer.room
    for variant in size.variants:
        if variant_bytes(computer, variant) > room.ram + room.card:
            continue  # so few fit on most computers that this saves most of the time
        it = place(computer, size, variant, CONTEXT)
        if not (it.easy and it.whole):
            shorter = place(computer, size, variant, SHORT_CONTEXT)
            better = shorter.easy and (shorter.whole or not it.easy)
            it = shorter if it.verdict == "no" or better else it
        if it.verdict != "no":
            yield it


def _quality(it: Placed) -> int:
    """Rate how good a model is in this place."""
    quality = it.size.quality.value
    if not it.whole or it.idle_card:
        return quality - _SHARED
    exact = quantisation_of(it.variant.quantisation).depth >= 8 and it.speed.about >= _QUICK
    return quality + _EIGHT_BITS if exact else quality


def _default(placed: Iterable[Placed]) -> Placed | None:
    easy = [it for it in placed if it.easy]
    # A list of an organisation's own may have none for every day.
    easy = [it for it in easy if it.size.everyday] or easy
    quick = [it for it in easy if _reaches(it, _READING)]
    if quick:
        return max(quick, key=_quality)
    return max(easy, key=lambda it: it.speed.about, default=None)


def _reaches(it: Placed, tokens_per_s: float) -> bool:
    """Tell whether it is fast enough; a card of unknown speed counts as fast."""
    return it.speed.about >= tokens_per_s or (it.share >= 1 and not it.rate_known)


def _faster(placed: Iterable[Placed], default: Placed) -> Placed | None:
    times = _FASTER if default.speed.about < _FAST else _FASTER_THAN_FAST
    return max(
        (
            it
            for it in placed
            if it.easy
            and it.whole
            and it.size.id != default.size.id
            and it.size.quality.value < default.size.quality.value
            and it.speed.about >= times * default.speed.about
            and it.parts.total <= default.parts.total
        ),
        key=_quality,
        default=None,
    )


def _smarter(placed: Iterable[Placed], default: Placed) -> Placed | None:
    slowest = max(_BEARABLE, default.speed.about / _SLOWEST)
    better = default.size.quality.value
    return max(
        (
            it
            for it in placed
            if it.size.quality.value > better
            and _is_larger(it.size, default.size)
            and _reaches(it, slowest)
        ),
        key=_quality,
        default=None,
    )


def _is_larger(one: Size, other: Size) -> bool:
    """Tell whether a model knows more or thinks with more than another."""
    return one.parameters.value > other.parameters.value or one.active.value > other.active.value


def _pick(
    computer: Computer, family: Family, it: Placed, sentence: str, disk_free: int | None
) -> Pick:
    size, parts = it.size, it.parts
    file = size.drafter_of(it.variant) if parts.drafter else None
    disk = parts.weights + (file_bytes(computer, file) if file else 0)
    return Pick(
        size_id=size.id,
        family=family.name,
        name=size.name,
        repo=it.variant.repo,
        variant=it.variant.quantisation,
        sentence=sentence,
        verdict=it.verdict,
        context=it.context,
        device=it.device,
        share=it.share,
        parts=parts,
        in_use=_in_use(computer, it),
        need=parts.total,
        have=it.have,
        speed=it.speed,
        disk_bytes=disk,
        disk_fits=disk_free is None or disk <= disk_free,
        licence=family.licence_of(size),
        mtp=mtp_sentence(it),
        about=it.variant.name not in computer.known,
        projector_bytes=file_bytes(computer, size.projector) if size.projector else 0,
    )


def _in_use(computer: Computer, it: Placed) -> int:
    """Return what others take of the memory where the model would lie, in bytes."""
    memory = computer.hardware.memory
    own = (memory.limit_bytes or memory.total_bytes) - memory.available_bytes
    room = computer.room
    cards = sum(
        gpu.total_bytes - gpu.free_bytes
        for gpu in room.gpus
        if gpu.total_bytes is not None and gpu.free_bytes is not None
    )
    if room.shared or not it.share:
        return max(0, own)
    return max(0, cards) if it.share >= 1 else max(0, cards) + max(0, own)
