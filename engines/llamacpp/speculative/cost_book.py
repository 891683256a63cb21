"""Keeps measured cost curves from one start to the next, in one small JSON file."""

from __future__ import annotations

from pathlib import Path

from engines.json_cache import ValueCache
from engines.llamacpp.speculative.costs import Costs


class CostBook(ValueCache[Costs]):
    """Cost curves by keys that say what they apply to; a missing one is measured again.

    Args:
        file: The file; None keeps the curves for this run only.
    """

    def __init__(self, file: Path | None) -> None:
        super().__init__(file, Costs.from_json, Costs.as_json, most=64)
