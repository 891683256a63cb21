"""Says what a projector lets its model take, by the first values of its file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Final

from engines.models.gguf.reader import ARCHITECTURE, MAGIC, BadGguf, read_start
from engines.types import Ability

_LOOK: Final = 128 << 10
_EYES: Final = "clip.has_vision_encoder"
_EARS: Final = "clip.has_audio_encoder"


def senses(projector: Path | None) -> tuple[Ability, ...]:
    """Return "sees", "hears" or both; nothing of what is no projector, or cannot be read."""
    if projector is None:
        return ()
    try:
        with projector.open("rb") as file:
            start = file.read(_LOOK)
    except OSError:
        return ()
    if not start.startswith(MAGIC):
        return ()
    try:
        _, values = read_start(io.BytesIO(start), len(start))
    except BadGguf:
        return ()
    if ARCHITECTURE not in values:
        return ()
    found: list[Ability] = []
    # The first projectors there were said nothing, and were for pictures.
    if values.get(_EYES, _EARS not in values):
        found.append("sees")
    if values.get(_EARS):
        found.append("hears")
    return tuple(found)
