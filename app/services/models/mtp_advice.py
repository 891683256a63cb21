"""What a model's files say of multi-token prediction, and what would help where nothing does."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.core.errors import AppError
from app.core.models.entry import ModelEntry
from app.services.models.library import Library
from engines.models.gguf.header import GgufHeader, read_header, require_chat
from engines.models.pairing import TARGETS, mtp_advice

if TYPE_CHECKING:
    from app.core.models.catalogue import Catalogue

Advise = Callable[[GgufHeader], str]
"""One sentence for a model without a drafter."""

_log = logging.getLogger(__name__)


def with_catalogue(catalogue: Callable[[], Catalogue]) -> Advise:
    """Names the drafter that can be downloaded, where the catalogue knows it."""

    def advise(header: GgufHeader) -> str:
        general = mtp_advice(header)
        if header.architecture not in TARGETS.values() or header.mtp != "none":
            return general
        from app.core.models.companions import drafter_for, offer_of

        try:
            drafter = drafter_for(header, catalogue())
        except AppError as error:
            # Discover shows it, with what to do.
            _log.warning("%s %s", error.what, error.why)
            return general
        return offer_of(drafter) if drafter else general

    return advise


def mtp_of_files(library: Library, entry: ModelEntry, advise: Advise = mtp_advice) -> str:
    """One sentence. Raises EngineError where a file cannot be read, or cannot chat."""
    if entry.engine == "remote":
        return "Whether this server guesses ahead is its own setting."
    if entry.engine == "vllm":
        return _of_checkpoint(library, entry)
    header = library.facts(entry)
    require_chat(entry.path, header)
    if library.drafter_for(entry) is not None:
        return "A drafter for multi-token prediction belongs to this model."
    if entry.drafter is not None:
        read_header(entry.drafter)
    if header.mtp == "embedded" and header.goes_back:
        return "Multi-token prediction is in this file."
    return advise(header)


def _of_checkpoint(library: Library, entry: ModelEntry) -> str:
    if library.drafter_for(entry) is not None:
        return "An assistant checkpoint for multi-token prediction belongs to this model."
    if library.checkpoints.read(entry.path).mtp == "embedded":
        return "Multi-token prediction is in this checkpoint."
    return "This checkpoint has no MTP head, and no assistant checkpoint for it is here."
