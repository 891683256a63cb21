"""What a model's files say of multi-token prediction, before anything is loaded."""

from __future__ import annotations

from app.core.models import ModelEntry
from app.services.library import Library
from engines.pairing import mtp_advice


def mtp_of_files(library: Library, entry: ModelEntry) -> str:
    """One sentence. Raises EngineError where the file cannot be read."""
    if entry.drafter is not None:
        return "A drafter for multi-token prediction belongs to this model."
    header = library.header(entry)
    if header.mtp == "embedded" and header.goes_back:
        return "Multi-token prediction is in this file."
    return mtp_advice(header)
