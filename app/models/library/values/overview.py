"""The overview of all models on this computer, with its filter and sort orders: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from app.models.library.values.entry import ModelEntry

if TYPE_CHECKING:
    from engines.types import Ability

Order = Literal["name", "size", "used", "unused"]
ORDERS: tuple[Order, ...] = ("name", "size", "used", "unused")
"""The sort orders: by name, largest first, recently used first, longest unused first."""

LoadState = Literal["", "loading", "loaded", "ejecting"]
"""The state of a model in this computer's memory; "" if it is not there."""


@dataclass(frozen=True)
class Overview:
    """The models on this computer, with the disk space that they take.

    Attributes:
        sizes: Bytes on the disk by id, projectors included.
        total: Bytes of all models, with shared files counted once.
        free: Free bytes on the disk with Hearth's folder.
        notes: One sentence for each thing that could not be listed.
        served: The models that each drafter drafts for, by the drafter's name; empty until known.
    """

    models: tuple[ModelEntry, ...] = ()
    drafters: tuple[ModelEntry, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    total: int = 0
    free: int = 0
    notes: tuple[str, ...] = ()
    served: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class ListedFacts:
    """The facts of a row of the overview, from the model's file.

    Attributes:
        mtp: "embedded", "drafter" or "none".
        can: The model's abilities; None if unknown.
        problem: Why the file cannot be read; empty if it can.
    """

    id: str
    quantisation: str
    mtp: str = "none"
    can: tuple[Ability, ...] | None = None
    problem: str = ""


def arranged(
    overview: Overview, facts: Mapping[str, ListedFacts], words: str, order: Order
) -> list[ModelEntry]:
    """Return the models that contain each of these words, sorted."""
    terms = words.lower().split()
    matching = [
        entry
        for entry in overview.models
        if all(word in _searched_text(entry, facts.get(entry.id)) for word in terms)
    ]
    return _sorted(matching, overview.sizes, order)


def _searched_text(entry: ModelEntry, facts: ListedFacts | None) -> str:
    file_facts = (facts.quantisation, facts.mtp) if facts else ()
    return " ".join(
        (entry.name, entry.source, entry.repo or "", entry.path.name, *file_facts)
    ).lower()


def _sorted(
    entries: Sequence[ModelEntry], sizes: Mapping[str, int], order: Order
) -> list[ModelEntry]:
    by_name = sorted(entries, key=lambda entry: entry.name.lower())
    match order:
        case "name":
            return by_name
        case "size":
            return sorted(by_name, key=lambda entry: -sizes.get(entry.id, 0))
        case "used":
            return sorted(by_name, key=lambda entry: -(entry.last_used or 0))
        case "unused":
            return sorted(by_name, key=lambda entry: entry.last_used or 0)
