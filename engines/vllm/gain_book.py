"""Keeps a model's measured speeds with and without MTP in one small JSON file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.kept_file import KeptFile, with_newest

_MOST: Final = 64
_LEAST_TOKENS: Final = 32
"""Answers shorter than this say little of the speed."""

_FRESH: Final = 1 / 8
"""The weight of a new answer in the running mean."""


@dataclass(frozen=True)
class DraftSpeeds:
    """Speeds without and with drafts in tokens a second, None where never measured."""

    plain: float | None = None
    drafted: float | None = None

    @property
    def gain(self) -> float | None:
        """The speed with drafts over that without, both measured here; None if one is missing."""
        return self.drafted / self.plain if self.plain and self.drafted else None


class GainBook:
    """Speeds by a key for the model and all that changes its speed. file None: for this run only.

    A file that cannot be read or written costs a measurement, and is no error for the user.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = KeptFile(file)
        self._pages = {key: _speeds(page) for key, page in self._file.read().items()}

    def pace(self, key: str, depth: int) -> DraftSpeeds:
        """Return the speeds without drafts and with so many tokens drafted ahead."""
        page = self._pages.get(key, {})
        return DraftSpeeds(page.get("0"), page.get(str(depth)) if depth else None)

    def learn(self, key: str, depth: int, tokens: int, tok_s: float) -> None:
        """Note the speed of an answer of so many tokens; depth 0 is without drafts."""
        if tokens < _LEAST_TOKENS or tok_s <= 0:
            return
        page = self._pages.get(key, {})
        known = page.get(str(depth))
        mean = tok_s if known is None else known + _FRESH * (tok_s - known)
        self._pages = with_newest(self._pages, key, {**page, str(depth): mean}, _MOST)
        self._file.write(self._pages)


def _speeds(page: object) -> dict[str, float]:
    """Return the speeds by depth, without what is no number."""
    if not isinstance(page, dict):
        return {}
    return {depth: speed for depth, speed in page.items() if isinstance(speed, (int, float))}
