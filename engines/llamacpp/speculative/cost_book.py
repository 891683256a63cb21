"""Keeps measured cost curves from one start to the next, in one small JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engines.kept_file import KeptFile, with_newest
from engines.llamacpp.speculative.costs import Costs

_MOST: Final = 64


class CostBook:
    """Cost curves by keys that say what they apply to.

    If the file cannot be read or written, costs are measured again; this is no error for the user.

    Args:
        file: The file; None keeps the curves for this run only.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = KeptFile(file)
        self._pages: dict[str, object] = self._file.read()

    def costs(self, key: str) -> Costs | None:
        """Return the curve of this model on this computer; None if it was never measured."""
        return Costs.from_json(self._pages.get(key))

    def keep(self, key: str, costs: Costs) -> None:
        """Remember the curve; of more than 64, the ones measured longest ago are dropped."""
        self._pages = with_newest(self._pages, key, costs.as_json(), _MOST)
        self._file.write(self._pages)
