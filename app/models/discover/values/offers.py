"""Offers of models to download: recommended ones, and the quantisations of a repository."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from app.models.hub.values.hub import RepoFile, Repository, Variant
from app.models.library.values.memory_use import Fits, MemoryUse

OfferKind = Literal["default", "faster", "smarter", "listed"]

ModelPurpose = Literal["everyday", "code", "sees", "small", "long"]
"""A purpose that a model suits: everyday chat, code, pictures, small computers, long texts."""

_SLIGHT: Final = 0.02
"""The share of a memory by which other programs' use can differ without a visible change."""


@dataclass(frozen=True)
class CompanionFile:
    """A file that belongs to a model, in any repository.

    Attributes:
        pattern: Matches its name.
    """

    repo: str
    pattern: str


@dataclass(frozen=True)
class ProjectorOffer:
    """A projector for a model on this computer, by the catalogue.

    Attributes:
        repo: The model's repository and quantisation, as owner/name:QUANT.
        size_bytes: Approximate size.
    """

    repo: str
    size_bytes: int


@dataclass(frozen=True)
class Offer:
    """A recommended model, as its card shows it.

    Attributes:
        name: Name of the model.
        why: One plain sentence.
        label: Its quantisation.
        uses: The memories that it would use.
        disk_bytes: Size of the download.
        tokens_per_s: Expected speed on this computer.
        at_least: Whether the speed can be much higher, so that the figure says little.
        about: Whether the sizes come from the catalogue and not yet from the Hub.
        licence: Its short name.
        licence_note: What it forbids; "" if nothing.
        fits: The verdict on its memory.
        drafter: The separate drafter file that is counted in and is downloaded too.
        projector_bytes: Approximate size of its projector, which is downloaded on request; 0 if it
            has none.
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
    fits: Fits = "fits"
    drafter: CompanionFile | None = None
    projector_bytes: int = 0


@dataclass(frozen=True)
class CatalogueModel:
    """A model of the catalogue, as its card shows it.

    Attributes:
        id: Its id in the catalogue.
        purposes: The purposes that it suits.
        is_new: Whether the catalogue has it only since the user last looked.
    """

    id: str
    offer: Offer
    purposes: tuple[ModelPurpose, ...] = ()
    is_new: bool = False


@dataclass(frozen=True)
class Offers:
    """The recommended models: the default first, then the alternatives.

    Attributes:
        note: A text that applies to all of them.
        listed: All models of the catalogue, the new ones first, then the best here.
    """

    offers: tuple[Offer, ...]
    note: str = ""
    listed: tuple[CatalogueModel, ...] = ()


def look_alike(first: Offers, second: Offers) -> bool:
    """Return whether the cards of both would look the same, give or take other programs' memory."""
    if _without_others(first) != _without_others(second):
        return False
    pairs = zip(_uses(first), _uses(second), strict=True)
    return all(abs(a.others - b.others) <= _SLIGHT * a.limit for a, b in pairs)


def _uses(offers: Offers) -> tuple[MemoryUse, ...]:
    return tuple(use for offer in offers.offers for use in offer.uses)


def _without_others(offers: Offers) -> Offers:
    plain = (
        replace(offer, uses=tuple(replace(use, others=0) for use in offer.uses))
        for offer in offers.offers
    )
    return replace(offers, offers=tuple(plain))


@dataclass(frozen=True)
class Choice:
    """One quantisation of a repository, judged.

    Attributes:
        quality: Its quality in plain words.
        fits: The verdict by its size.
        drafter: The file that is downloaded with it.
        projector: The file with which it sees or hears, which is downloaded on request.
    """

    variant: Variant
    quality: str
    fits: Fits
    recommended: bool = False
    drafter: RepoFile | None = None
    projector: RepoFile | None = None


@dataclass(frozen=True)
class OpenedRepository:
    """A repository with its choices.

    Attributes:
        has_token: Whether Hearth has a token, if the repository requires one.
        drafts: Whether it has drafters, which serve other models.
    """

    repository: Repository
    choices: tuple[Choice, ...]
    has_token: bool = False
    drafts: bool = False


@dataclass(frozen=True)
class ChoiceVerdict:
    """The memory verdict on a choice.

    Attributes:
        exact: Whether llama.cpp itself was asked and not only Hearth's formula.
    """

    repo: str
    label: str
    fits: Fits
    uses: tuple[MemoryUse, ...]
    sentence: str
    exact: bool
