"""Keeps measured cost curves from one start to the next, in one small JSON file."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from pathlib import Path
from typing import Final

from engines.llamacpp.speculative.costs import Costs

logger = logging.getLogger(__name__)

_MOST: Final = 64


class CostBook:
    """Cost curves by a key that says what they hold for. file None: for this run only.

    A file that cannot be read or written costs a measurement, and is no error for the user.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._pages: dict[str, object] = {}
        if file is not None:
            try:
                read = json.loads(file.read_text(encoding="utf-8"))
                self._pages = read if isinstance(read, dict) else {}
            except FileNotFoundError:
                pass
            except (OSError, ValueError) as error:
                logger.warning("the measured costs in %s cannot be read: %s", file.name, error)

    def costs(self, key: str) -> Costs | None:
        """The curve of this model on this computer, None if it was never measured."""
        return Costs.from_json(self._pages.get(key))

    def keep(self, key: str, costs: Costs) -> None:
        """Remember the curve; of more than 64, the ones used longest ago are dropped."""
        self._pages.pop(key, None)
        self._pages[key] = costs.as_json()
        for old in list(self._pages)[:-_MOST]:
            del self._pages[old]
        if self._file is None:
            return
        unfinished = self._file.with_suffix(".part")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(self._pages), encoding="utf-8")
            unfinished.replace(self._file)
        except OSError as error:
            logger.warning("the measured costs cannot be kept: %s", error)
            with suppress(OSError):
                unfinished.unlink()
