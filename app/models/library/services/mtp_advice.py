"""Describes the drafter of a model from its files, or advises how to get one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.base.errors import AppError
from app.models.library.services.library import Library
from app.models.library.values.entry import ModelEntry
from engines.models.format import Advise
from engines.models.gguf.header import GgufHeader
from engines.models.pairing import mtp_advice

if TYPE_CHECKING:
    from app.models.discover.values.catalogue import Catalogue

_log = logging.getLogger(__name__)


def with_catalogue(catalogue: Callable[[], Catalogue]) -> Advise:
    """Return advice that names the drafter to download if the catalogue has one."""

    def advise(header: GgufHeader) -> str:
        general = mtp_advice(header)
        if header.mtp != "none":
            return general
        from app.models.discover.values.companions import drafter_for, offer_of

        try:
            drafter = drafter_for(header, catalogue())
        except AppError as error:
            # Discover shows this error, with what to do about it.
            _log.warning("%s %s", error.what, error.why)
            return general
        return offer_of(drafter) if drafter else general

    return advise


def mtp_of_files(library: Library, entry: ModelEntry, advise: Advise = mtp_advice) -> str:
    """Return a sentence about the drafter of a model.

    Raises:
        EngineError: The model cannot be read.
    """
    drafter = library.drafter_for(entry)
    return library.formats.of(entry).mtp_sentence(entry, drafter, advise)
