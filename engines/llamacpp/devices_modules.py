"""The back ends of llama.cpp that are files beside its library, to be loaded into it."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_MODULE: Final = re.compile(r"(?:lib)?ggml-([a-z]+)(?:-\w+)?\.(?:so|dll|dylib)")
_CARDS: Final = ("cuda", "hip", "metal", "vulkan")
"""The back ends for cards; where two reach one card, the first is better."""


@dataclass(frozen=True)
class Modules:
    """The files of the back ends.

    processor: None where it is compiled in. cards: for graphics cards.
    """

    processor: Path | None = None
    cards: tuple[Path, ...] = ()


def modules_in(folder: Path) -> Modules:
    """Find the modules in a folder; of several for the processor, the one that suits it best."""
    named: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        if found := _MODULE.fullmatch(path.name):
            named.setdefault(found[1], []).append(path)
    cards = [path for name in _CARDS for path in named.get(name, ())]
    return Modules(_best(named.get("cpu", ())), tuple(cards))


def _best(paths: Iterable[Path]) -> Path | None:
    """Pick the module with the highest score on this processor; each gives its own, 0 for none."""
    scores = {path: _score(path) for path in paths}
    best = max(scores, key=lambda path: scores[path], default=None)
    return best if best is not None and scores[best] else None


def _score(path: Path) -> int:
    score = getattr(ctypes.CDLL(str(path)), "ggml_backend_score", None)
    return int(score()) if score else 1
