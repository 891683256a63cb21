"""Keeps a model's measured speeds with and without MTP in a small JSON file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.json_cache import ValueCache

_LEAST_TOKENS: Final = 32
"""Shorter answers say little about the speed."""

_FRESH: Final = 1 / 8
"""Weight of a new answer in the running mean."""


@dataclass(frozen=True)
class DraftSpeeds:
    """Speeds without and with drafts in tokens per second; None if never measured."""

    plain: float | None = None
    drafted: float | None = None

    @property
    def gain(self) -> float | None:
        """Speed with drafts divided by the speed without; None if one of them is missing."""
        return self.drafted / self.plain if self.plain and self.drafted else None


class GainBook:
    """Measured speeds, by a key for the model and everything that changes its speed.

    If the file cannot be read or written, only measurements are lost, and the user sees no error.

    Args:
        file: File to keep them in; None keeps them for this run only.
    """

    def __init__(self, file: Path | None) -> None:
        self._speeds = ValueCache(file, _speeds, dict, most=64)

    def speeds_of(self, key: str, depth: int) -> DraftSpeeds:
        """Return the speeds without drafts and with `depth` tokens drafted ahead."""
        page = self._speeds.get(key) or {}
        return DraftSpeeds(page.get("0"), page.get(str(depth)) if depth else None)

    def learn(self, key: str, depth: int, tokens: int, tok_s: float) -> None:
        """Record the speed of an answer in tokens per second; depth 0 means without drafts."""
        if tokens < _LEAST_TOKENS or tok_s <= 0:
            return
        page = self._speeds.get(key) or {}
        old_mean = page.get(str(depth))
        mean = tok_s if old_mean is None else old_mean + _FRESH * (tok_s - old_mean)
        self._speeds.keep(key, {**page, str(depth): mean})


def _speeds(page: object) -> dict[str, float] | None:
    """Return the speeds by depth, leaving out values that are not numbers."""
    if not isinstance(page, dict):
        return None
    return {depth: speed for depth, speed in page.items() if isinstance(speed, (int, float))}
