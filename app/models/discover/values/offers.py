"""Offers of models to download: recommended ones, and the quantisations of a repository."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from app.models.hub.values.hub import RepoFile, Repository, Variant
from app.models.library.values.memory_use import MemoryUse

OfferKind = Literal["default", "faster", "smarter"]

Fits = Literal["fits", "tight", "partial", "no"]
"""The verdicts of `engines.memory.fit.Verdict`, which widgets do not see."""

_SLIGHT: Final = 0.02
"""The part of a memory by which what others take may differ without being seen on a card."""


@dataclass(frozen=True)
class Beside:
    """A file that belongs to a model, in any repository. pattern: matches its name."""

    repo: str
    pattern: str


@dataclass(frozen=True)
class ProjectorOffer:
    """A projector that a model's repository has, by the catalogue. size_bytes: about.

    repo: with the quantisation of the model that is here, as owner/name:QUANT.
    """

    repo: str
    size_bytes: int


@dataclass(frozen=True)
class Offer:
    """A recommended model, as its card shows it.

    name: of the model. why: one plain sentence. repo, label: where it is, and its quantisation.
    uses: the memories it would take room in. tokens_per_s: expected of this computer; at_least: it
    may be a lot more, so that the number says little. disk_bytes: to download; about: by the
    catalogue, not yet by the Hub. licence: its short name; licence_note: what it forbids, or "".
    mtp: one sentence. fits: the verdict. drafter: the file of its own that is counted in and comes
    along. projector_bytes: about, of the one with which it sees, which comes along if it is asked
    for; 0 where it has none.
    """

    kind: OfferKind
    name: str
    why: str
    repo: str
    label: str
    uses: tuple[MemoryUse, ...]
    disk_bytes: int
    tokens_per_s: float
    at_least: bool = False
    about: bool = True
    licence: str = ""
    licence_note: str = ""
    mtp: str = ""
    fits: Fits = "fits"
    drafter: Beside | None = None
    projector_bytes: int = 0


@dataclass(frozen=True)
class Offers:
    """The recommended models: the default, then the alternatives. note: applies to all of them."""

    offers: tuple[Offer, ...]
    note: str = ""


def look_alike(one: Offers, other: Offers) -> bool:
    """Whether the cards of both look the same, apart from the memory that others take."""
    if _without_others(one) != _without_others(other):
        return False
    pairs = zip(_uses(one), _uses(other), strict=True)
    return all(abs(a.others - b.others) <= _SLIGHT * a.limit for a, b in pairs)


def _uses(offers: Offers) -> tuple[MemoryUse, ...]:
    return tuple(use for offer in offers.offers for use in offer.uses)


def _without_others(offers: Offers) -> Offers:
    plain = (
        replace(it, uses=tuple(replace(use, others=0) for use in it.uses)) for it in offers.offers
    )
    return replace(offers, offers=tuple(plain))


@dataclass(frozen=True)
class KnownFamily:
    """A model family of the catalogue. models: names, and what each is good at."""

    name: str
    models: tuple[tuple[str, str], ...]
    licence: str = ""


@dataclass(frozen=True)
class Choice:
    """One quantisation of a repository, judged.

    quality: in plain words. fits: judged by its size. drafter: the file that comes along with it.
    projector: the one with which it sees or hears, which comes along if it is asked for.
    """

    variant: Variant
    quality: str
    fits: Fits
    recommended: bool = False
    drafter: RepoFile | None = None
    projector: RepoFile | None = None


@dataclass(frozen=True)
class Opened:
    """A repository with its choices.

    has_token: there is a token to show it. drafts: it has drafters, which serve other models.
    """

    repository: Repository
    choices: tuple[Choice, ...]
    has_token: bool = False
    drafts: bool = False


@dataclass(frozen=True)
class Judged:
    """The memory verdict on a choice. exact: llama.cpp itself was asked, not only our formula."""

    repo: str
    label: str
    fits: Fits
    uses: tuple[MemoryUse, ...]
    sentence: str
    exact: bool
