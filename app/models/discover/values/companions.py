"""Finds the drafter in the catalogue that was made for a model on this computer: pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engines.models.gguf.header import GgufHeader
from engines.sentences import N_
from engines.text import amount

if TYPE_CHECKING:
    from app.models.discover.values.catalogue import Catalogue, File, Size


def drafter_for(header: GgufHeader, catalogue: Catalogue) -> File | None:
    """Return the drafter to download for a model; None if none would help.

    A model is recognised by its shape; models of the same shape, such as successors of one size,
    are told apart by their names.
    """
    alike = [size for size in catalogue.sizes.values() if _has_shape(header, size)]
    if len(alike) > 1:
        alike = [size for size in alike if _plain(size.name) in _plain(header.name)]
    helping = (size.drafter for size in alike if size.mtp.kind != "none" and size.mtp.help != "off")
    return next(filter(None, helping), None)


def offer_of(drafter: File) -> str:
    """Return a sentence that offers a drafter for a model that lacks it."""
    bytes_about = round(drafter.gb.value * 1e9)
    return N_(
        "This model can answer faster with its {bytes_about} drafter, which can be "
        "downloaded ({repo}/{pattern})",
        bytes_about=amount(bytes_about),
        repo=drafter.repo,
        pattern=drafter.pattern,
    )


def _has_shape(header: GgufHeader, size: Size) -> bool:
    shape = size.shape
    # A file can count prediction layers that it does not contain.
    return (
        header.block_count - header.nextn_predict_layers == shape.layers.value
        and header.embedding_length == shape.width.value
        and header.vocab_size == shape.vocabulary.value
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
