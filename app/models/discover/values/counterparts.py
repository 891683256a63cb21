"""Finds the same model for another engine, a GGUF file or a checkpoint, by the catalogue: pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.models.library.values.entry import STARTER, STARTER_CHECKPOINT, ModelEntry
from engines.sentences import N_
from engines.types import EngineName

if TYPE_CHECKING:
    from app.models.discover.values.catalogue import (
        Catalogue,
        CatalogueVariant,
        Size,
        VllmCheckpoint,
    )

_NATIVE_FROM: Final[Mapping[str, float]] = {
    "fp8": 8.9, "nvfp4": 10.0, "int4": 8.0, "mxfp4": 8.0, "bf16": 8.0, "int8": 7.5, "fp16": 7.5,
}  # fmt: skip
"""The compute capability from which a card computes natively in this precision.

On older cards vLLM unpacks the weights as it computes: they are as small, but slower.
"""

_RUNS_FROM: Final[Mapping[str, float]] = {"mxfp4": 8.0}
_OTHERS_RUN_FROM: Final = 7.5
"""The compute capability from which vLLM runs precisions that are not in `_RUNS_FROM`.

Source: vLLM 0.33, `get_min_capability` of its quantisations.
"""

_ORDER: Final = ("nvfp4", "fp8", "int4", "mxfp4", "bf16")
"""The order of precisions among those that fit: small and fast first, then exact."""

_GB: Final = 1_000_000_000
_CONTEXT_GB: Final = 1.0
"""Room for a longer context and the drafter, beyond the minimum that the makers state."""


@dataclass(frozen=True)
class Card:
    """The graphics card that vLLM would use.

    Attributes:
        capability: Its CUDA compute capability.
        total_bytes: Its memory.
    """

    name: str
    capability: float
    total_bytes: int


@dataclass(frozen=True)
class Counterpart:
    """The same model for another engine, on this computer or to be downloaded.

    Attributes:
        label: Its quantisation or precision.
        entry: The model on this computer; None if it has to be downloaded.
        repo: "owner/name".
        bytes: Approximate size of the download; 0 if it is here.
        drafter: The repository of its drafter, a checkpoint.
        depth: How many tokens to draft ahead, as its makers advise.
        why_not: A sentence on why it does not suit this computer; empty if it does.
        computes: Whether the card computes natively in its precision.
    """

    engine: EngineName
    name: str
    label: str
    entry: ModelEntry | None = None
    repo: str = ""
    bytes: int = 0
    drafter: str = ""
    depth: int | None = None
    why_not: str = ""
    computes: bool = True

    @property
    def price(self) -> str:
        """The required download, in a sentence for the user."""
        if self.entry is not None:
            return N_("It is on this computer; nothing has to be downloaded.")
        return (
            N_("About {bytes} GB have to be downloaded.", bytes=f"{self.bytes / _GB:.1f}")
            if self.bytes
            else ""
        )


def counterparts(
    entry: ModelEntry,
    engine: EngineName,
    local: Iterable[ModelEntry],
    catalogue: Catalogue,
    card: Card | None,
) -> tuple[Counterpart, ...]:
    """List the counterparts for `engine`: local ones first, then those that suit the card.

    Args:
        local: The models on this computer.
        card: None if vLLM would have no card.
    """
    if entry.engine == engine:
        return ()
    local = [model for model in local if model.engine == engine and not model.drafts]
    if entry.id in (STARTER, STARTER_CHECKPOINT):
        return tuple(
            Counterpart(engine, model.name, "", model)
            for model in local
            if model.id in (STARTER, STARTER_CHECKPOINT)
        )
    size = size_of(entry, catalogue)
    if size is None:
        return ()
    local_ones = [
        _on_computer(size, model, engine) for model in local if size_of(model, catalogue) is size
    ]
    offered: list[Counterpart] = []
    if engine == "vllm":
        offered = [_checkpoint(size, checkpoint, card) for checkpoint in size.vllm]
    elif engine == "llamacpp":
        offered = [_gguf(size, variant) for variant in size.variants]
    local_repos = {counterpart.repo.lower() for counterpart in local_ones if counterpart.repo}
    others = [
        counterpart
        for counterpart in offered
        if engine == "llamacpp" or counterpart.repo.lower() not in local_repos
    ]
    return (*local_ones, *sorted(others, key=_rank))


def checkpoints_of(size: Size, card: Card | None) -> tuple[Counterpart, ...]:
    """List a catalogue model's checkpoints for vLLM, those that suit the card first."""
    return tuple(
        sorted((_checkpoint(size, checkpoint, card) for checkpoint in size.vllm), key=_rank)
    )


def best(candidates: Iterable[Counterpart]) -> Counterpart | None:
    """Return the counterpart to switch to: a local one, or one that suits this computer."""
    return next(
        (
            counterpart
            for counterpart in candidates
            if counterpart.entry is not None or not counterpart.why_not
        ),
        None,
    )


def best_or_nearest(candidates: Sequence[Counterpart]) -> Counterpart | None:
    """Return the counterpart to show: the best one, or the nearest unsuitable one."""
    return best(candidates) or next(iter(candidates), None)


def size_of(entry: ModelEntry, catalogue: Catalogue) -> Size | None:
    """Return the catalogue model of an entry, by its repository or else by its name."""
    if (size := _by_repository(entry, catalogue)) is not None:
        return size
    names = (_plain(entry.served), _plain(entry.name), _plain(entry.path.name))
    matching = [
        size
        for size in catalogue.sizes.values()
        if any(_names(name, _plain(size.id)) for name in names)
    ]
    return max(matching, key=lambda size: len(size.id), default=None)


def surely_same(first: ModelEntry, other: ModelEntry, catalogue: Catalogue) -> bool:
    """Return whether two entries are surely the same model, by their repositories.

    Names are not enough: derived models carry the name of the original too.
    """
    if {first.id, other.id} == {STARTER, STARTER_CHECKPOINT}:
        return True
    size = _by_repository(first, catalogue)
    return size is not None and size is _by_repository(other, catalogue)


def advised_depth(entry: ModelEntry, catalogue: Catalogue) -> int | None:
    """Return how many tokens to draft ahead in vLLM, as the makers advise; None if they do not."""
    size = size_of(entry, catalogue)
    checkpoints = size.vllm if size else ()
    same = [
        checkpoint
        for checkpoint in checkpoints
        if entry.repo and checkpoint.repo.lower() == entry.repo.lower()
    ]
    return next(
        (depth for checkpoint in (*same, *checkpoints) if (depth := _depth(checkpoint))), None
    )


def _by_repository(entry: ModelEntry, catalogue: Catalogue) -> Size | None:
    if not entry.repo:
        return None
    for size in catalogue.sizes.values():
        repos = {*size.repositories, *(checkpoint.repo for checkpoint in size.vllm)}
        if entry.repo.lower() in {repo.lower() for repo in repos}:
            return size
    return None


def _on_computer(size: Size, entry: ModelEntry, engine: EngineName) -> Counterpart:
    offered = next((checkpoint for checkpoint in size.vllm if checkpoint.repo == entry.repo), None)
    depth = _depth(offered) if offered else None
    label = offered.precision.upper() if offered else ""
    return Counterpart(engine, entry.name, label, entry, entry.repo or "", depth=depth)


def _checkpoint(size: Size, checkpoint: VllmCheckpoint, card: Card | None) -> Counterpart:
    drafter = str((checkpoint.speculative or {}).get("model", ""))
    size_bytes = round(checkpoint.gb.value * _GB) if checkpoint.gb else 0
    why_not = _why_not(checkpoint, card)
    native_from = _NATIVE_FROM.get(checkpoint.precision.lower(), 8.0)
    return Counterpart(
        "vllm",
        size.name,
        checkpoint.precision.upper(),
        repo=checkpoint.repo,
        bytes=size_bytes,
        drafter=drafter,
        depth=_depth(checkpoint),
        why_not=why_not,
        computes=card is not None and card.capability >= native_from,
    )


def _gguf(size: Size, variant: CatalogueVariant) -> Counterpart:
    size_bytes = round(variant.gb.value * _GB)
    return Counterpart("llamacpp", size.name, variant.quantisation, None, variant.repo, size_bytes)


def _least(checkpoint: VllmCheckpoint) -> float:
    return _RUNS_FROM.get(checkpoint.precision.lower(), _OTHERS_RUN_FROM)


def _why_not(checkpoint: VllmCheckpoint, card: Card | None) -> str:
    if card is None:
        return N_("This computer has no NVIDIA card for it.")
    least = _least(checkpoint)
    if card.capability < least:
        return N_(
            "{precision} needs a card of compute capability {least}, and {name} has {capability}.",
            precision=checkpoint.precision.upper(),
            least=f"{least:g}",
            name=card.name,
            capability=f"{card.capability:g}",
        )
    vram = (
        checkpoint.vram_gb.value
        if checkpoint.vram_gb
        else checkpoint.gb.value * 1.1
        if checkpoint.gb
        else 0.0
    )
    needed = vram + (_CONTEXT_GB if checkpoint.speculative else 0.0)
    if needed * _GB > card.total_bytes:
        return N_(
            "It needs about {needed} GB, and {name} has {total_bytes}.",
            needed=f"{needed:.0f}",
            name=card.name,
            total_bytes=f"{card.total_bytes / _GB:.0f}",
        )
    return ""


def _rank(counterpart: Counterpart) -> tuple[bool, bool, int]:
    """Return a sort key: suitable ones first, by precision, then those that lack the least."""
    if counterpart.engine == "llamacpp":
        return False, False, 0  # in the catalogue's own order
    if counterpart.why_not:
        return True, not counterpart.computes, counterpart.bytes
    precision = counterpart.label.lower()
    at = _ORDER.index(precision) if precision in _ORDER else len(_ORDER)
    return False, not counterpart.computes, at


def _depth(checkpoint: VllmCheckpoint) -> int | None:
    depth = (checkpoint.speculative or {}).get("num_speculative_tokens")
    return depth if isinstance(depth, int) else None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _names(name: str, size: str) -> bool:
    """Return whether a name contains a size's id, as whole words."""
    return f"-{size}-" in f"-{name}-"
