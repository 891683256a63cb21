"""What a model's files say of multi-token prediction, before anything is loaded."""

from __future__ import annotations

from app.core.models import ModelEntry
from app.services.library import Library
from engines.gguf_header import read_header, require_chat
from engines.pairing import mtp_advice


def mtp_of_files(library: Library, entry: ModelEntry) -> str:
    """One sentence. Raises EngineError where a file cannot be read, or cannot chat."""
    header = library.header(entry)
    require_chat(entry.path, header)
    if library.drafter_for(entry) is not None:
        return "A drafter for multi-token prediction belongs to this model."
    if entry.drafter is not None:
        read_header(entry.drafter)
    if header.mtp == "embedded" and header.goes_back:
        return "Multi-token prediction is in this file."
    return mtp_advice(header)
