"""Turns recommendations into offers for the window: pure."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING

from app.models.discover.values.offers import (
    CatalogueModel,
    CompanionFile,
    Offer,
    OfferKind,
    Offers,
)
from app.models.library.presenters.memory_uses import uses_of

if TYPE_CHECKING:
    from app.models.discover.values.catalogue import Catalogue, Size
    from app.models.discover.values.recommend import Pick, Recommendation
    from engines.hardware import Hardware


def offers_of(
    recommendation: Recommendation,
    catalogue: Catalogue,
    hardware: Hardware,
    unseen: AbstractSet[str] = frozenset(),
) -> Offers:
    """Turn a recommendation into offers.

    Args:
        unseen: Ids of models that are new in the catalogue.
    """
    picks: tuple[tuple[OfferKind, Pick | None], ...] = (
        ("default", recommendation.default),
        ("faster", recommendation.faster),
        ("smarter", recommendation.smarter),
    )
    offers = tuple(
        _offer(kind, pick, catalogue.sizes[pick.size_id], hardware)
        for kind, pick in picks
        if pick is not None
    )

    listed = tuple(
        _listed(pick, catalogue.sizes[pick.size_id], hardware, is_new=pick.size_id in unseen)
        for pick in sorted(recommendation.listed, key=lambda pick: pick.size_id not in unseen)
    )
    return Offers(offers, recommendation.note, listed)


def embedder_offer(catalogue: Catalogue, size_id: str) -> Offer | None:
    """Return an embedding model of the catalogue as an offer; None if the catalogue lacks it."""
    for family in catalogue.families:
        for size in family.sizes:
            if size.id == size_id:
                variant, licence = size.variants[0], family.licence_of(size)
                return Offer(
                    "default",
                    size.name,
                    size.good_at,
                    variant.repo,
                    variant.quantisation,
                    uses=(),
                    disk_bytes=round(variant.gb.value * 1e9),
                    tokens_per_s=0.0,
                    licence=licence.name,
                    licence_note=licence.note,
                )
    return None


def _offer(kind: OfferKind, pick: Pick, size: Size, hardware: Hardware) -> Offer:
    return Offer(
        kind,
        pick.name,
        pick.sentence,
        pick.repo,
        pick.variant,
        uses_of(pick.parts, pick.share, pick.have, hardware),
        pick.disk_bytes,
        pick.tokens_per_s,
        pick.speed.at_least,
        pick.about,
        pick.licence.name,
        pick.licence.note,
        pick.verdict,
        _drafter_file(pick, size) if pick.parts.drafter else None,
        pick.projector_bytes,
    )


def _listed(pick: Pick, size: Size, hardware: Hardware, *, is_new: bool) -> CatalogueModel:
    """Return a model of the catalogue; its card shows no memory bars."""
    offer = replace(_offer("listed", pick, size, hardware), uses=())
    return CatalogueModel(size.id, offer, size.purposes, is_new)


def _drafter_file(pick: Pick, size: Size) -> CompanionFile | None:
    """Return the separate drafter file that was counted in; None if there is none."""
    chosen = next(
        variant
        for variant in size.variants
        if (variant.repo, variant.quantisation) == (pick.repo, pick.variant)
    )
    file = size.drafter_of(chosen)
    return CompanionFile(file.repo, file.pattern) if file else None
