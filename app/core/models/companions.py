"""Finds the drafter of the catalogue that was made for a model on this computer: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.models.gguf.header import GgufHeader
from engines.text import amount

if TYPE_CHECKING:
    from app.core.models.catalogue import Catalogue, File, Size


def drafter_for(header: GgufHeader, catalogue: Catalogue) -> File | None:
    """Find the drafter to download for a model, told by its shape; None if none would help."""
    for size in catalogue.sizes.values():
        if size.drafter is not None and size.mtp.help != "off" and _is(header, size):
            return size.drafter
    return None


def offer_of(drafter: File) -> str:
    """Offer a drafter in one sentence, for a model that lacks it."""
    bytes_about = round(drafter.gb.value * 1e9)
    return (
        f"This model can answer faster with its {amount(bytes_about)} drafter, which can "
        f"be downloaded ({drafter.repo}/{drafter.pattern})"
    )


def _is(header: GgufHeader, size: Size) -> bool:
    shape = size.shape
    return (
        size.mtp.kind == "drafter"
        and header.block_count == shape.layers.value
        and header.embedding_length == shape.width.value
        and header.vocab_size == shape.vocabulary.value
    )
