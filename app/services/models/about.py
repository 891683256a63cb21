"""What a list shows of any model, whatever runs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.core.models.entry import ModelEntry
from app.services.models.library import Library
from engines.types import MtpKind


@dataclass(frozen=True)
class About:
    """Sizes are bytes, lengths tokens; 0 and empty where nobody says, as with a server's model.

    mtp: what guesses ahead for it: "drafter", "embedded" or "none". drafter: its file or folder.
    """

    architecture: str = ""
    parameters: int = 0
    quantisation: str = ""
    context_max: int = 0
    size_bytes: int = 0
    mtp: MtpKind = "none"
    drafter: Path | None = None


def about(library: Library, entry: ModelEntry) -> About:
    """Reads what is in front of its files. Raises EngineError."""
    if entry.engine == "remote":
        return About(context_max=entry.context)
    drafter = library.drafter_for(entry)
    if entry.engine == "vllm":
        found = library.checkpoints.read(entry.path)
        return About(
            found.architecture,
            found.parameters,
            found.precision.upper(),
            found.context_max,
            found.weight_bytes,
            "drafter" if drafter is not None else found.mtp,
            drafter,
        )
    header = library.facts(entry)
    own: MtpKind = "none" if header.mtp == "drafter" else header.mtp
    return About(
        header.architecture,
        header.parameters,
        header.quantisation,
        header.context_max,
        header.size_bytes,
        "drafter" if drafter is not None else own,
        drafter,
    )
