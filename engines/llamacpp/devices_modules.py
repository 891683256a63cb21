"""The back ends of llama.cpp that are separate files beside its library."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_MODULE: Final = re.compile(r"(?:lib)?ggml-([a-z]+)(?:-[\w.]+)?\.(?:so|dll|dylib)")
_CARDS: Final = ("cuda", "hip", "metal", "vulkan")
"""The back ends for graphics cards, the better one first where two can use the same card."""


@dataclass(frozen=True)
class Modules:
    """The files of the back ends.

    Attributes:
        processor: The module for the processor; None if it is compiled in.
        cards: The modules for graphics cards.
    """

    processor: Path | None = None
    cards: tuple[Path, ...] = ()


def modules_in(folder: Path) -> Modules:
    """Find the modules in a folder; of several for the processor, take the most suitable one."""
    files = sorted(folder.iterdir())
    return Modules(_best(path for path in files if _kind(path) == "cpu"), in_order(files))


def in_order(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the modules for graphics cards, the better back end first, one for each back end."""
    named: dict[str, Path] = {}
    for path in paths:
        if (card := card_of(path)) is not None:
            named.setdefault(card, path)
    return tuple(named[card] for card in _CARDS if card in named)


def card_of(path: Path) -> str | None:
    """Return the graphics card back end that the file name stands for; None for other files."""
    kind = _kind(path)
    return kind if kind in _CARDS else None


def _kind(path: Path) -> str | None:
    found = _MODULE.fullmatch(path.name)
    return found[1] if found else None


def _best(paths: Iterable[Path]) -> Path | None:
    """Return the module with the highest score on this processor, None if all score 0.

    Each module computes its own score.
    """
    scores = {path: _score(path) for path in paths}
    best = max(scores, key=lambda path: scores[path], default=None)
    return best if best is not None and scores[best] else None


def _score(path: Path) -> int:
    score = getattr(ctypes.CDLL(str(path)), "ggml_backend_score", None)
    return int(score()) if score else 1
