"""Keeps how fast a model wrote on this computer with and without MTP, in one small JSON file."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

_MOST: Final = 64
_LEAST_TOKENS: Final = 32
"""Answers shorter than this say little of the speed."""

_FRESH: Final = 1 / 8
"""The weight of a new answer in the running mean."""


@dataclass(frozen=True)
class Pace:
    """Tokens a second, None where it was never measured."""

    plain: float | None = None
    drafted: float | None = None

    @property
    def gain(self) -> float | None:
        """Speed with drafts over that without: an A/B on this computer, or nothing."""
        return self.drafted / self.plain if self.plain and self.drafted else None


class GainBook:
    """Speeds by a key for the model and all that changes its speed. file None: for this run only.

    A file that cannot be read or written costs a measurement, and is no error for the user.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._pages: dict[str, dict[str, float]] = {}
        if file is None:
            return
        try:
            read = json.loads(file.read_text(encoding="utf-8"))
            self._pages = {
                str(key): {str(depth): float(speed) for depth, speed in page.items()}
                for key, page in read.items()
            }
        except FileNotFoundError:
            pass
        except (OSError, ValueError, AttributeError, TypeError) as error:
            logger.warning("the measured speeds in %s cannot be read: %s", file.name, error)

    def pace(self, key: str, depth: int) -> Pace:
        """What is known of drafting so many tokens ahead."""
        page = self._pages.get(key, {})
        return Pace(page.get("0"), page.get(str(depth)) if depth else None)

    def learn(self, key: str, depth: int, tokens: int, tok_s: float) -> None:
        """An answer of so many tokens was written at this speed; depth 0 is without drafts."""
        if tokens < _LEAST_TOKENS or tok_s <= 0:
            return
        page = self._pages.pop(key, {})
        known = page.get(str(depth))
        page[str(depth)] = tok_s if known is None else known + _FRESH * (tok_s - known)
        self._pages[key] = page
        for old in list(self._pages)[:-_MOST]:
            del self._pages[old]
        self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        unfinished = self._file.with_suffix(".part")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(self._pages), encoding="utf-8")
            unfinished.replace(self._file)
        except OSError as error:
            logger.warning("the measured speeds cannot be kept: %s", error)
            with suppress(OSError):
                unfinished.unlink()
