"""The models on this computer, as the rest of the app names them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STARTER = "starter"


@dataclass(frozen=True)
class ModelEntry:
    """One model that can be chatted with. `id` is what settings and commands call it.

    drafter: the file beside it that drafts tokens for it (MTP), if it has one.
    """

    id: str
    name: str
    path: Path
    builtin: bool = False
    drafter: Path | None = None
