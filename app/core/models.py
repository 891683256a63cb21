"""The models on this computer, as the rest of the app names them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

STARTER = "starter"


@dataclass(frozen=True)
class ModelEntry:
    """A model to chat with, or a drafter. `id` is what settings and commands call it.

    drafter: the file that drafts tokens for it (MTP), if it has one.
    drafts: it was added as a drafter.
    """

    id: str
    name: str
    path: Path
    builtin: bool = False
    drafter: Path | None = None
    drafts: bool = False
