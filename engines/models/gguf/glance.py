"""The first facts of a GGUF file, for long lists, from a thousandth of its header.

A whole header contains every token of the vocabulary and can take half a second to read; the facts
that a list needs come before the tokens.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.errors import EngineError
from engines.models.gguf.header import Kind, kind_of, read_header
from engines.models.gguf.reader import (
    ARCHITECTURE,
    BASENAME,
    BLOCKS,
    HEADS,
    MAGIC,
    POOLING,
    PROJECTION,
    TYPE,
    WIDTH,
    BadGguf,
    Value,
    read_start,
    whole_number,
)
from engines.regular import open_regular

_START_BYTES: Final = 128 << 10
_PER_LAYER: Final = 2
"""The fewest tensors per layer of a whole model; a prediction head in its own file has fewer."""


@dataclass(frozen=True)
class Glance:
    """The first facts of a file.

    Attributes:
        kind: As in `GgufHeader`.
        width: Values of a hidden state; for a projector, of its output; 0 if the file does not say
            it near its start.
        family: Base name that a model shares with its projector; "" if the file has none.
    """

    architecture: str
    kind: Kind
    width: int
    family: str = ""

    def fits_projector(self, projector: Glance) -> bool:
        """Return whether a projector fits this model, as far as both files say."""
        return (not (self.width and projector.width) or self.width == projector.width) and (
            not (self.family and projector.family) or self.family == projector.family
        )


def glance(path: Path) -> Glance | None:
    """Read a file's first facts; None if it is not a readable GGUF file. Raises OSError."""
    with open_regular(path) as file:
        start = file.read(_START_BYTES)
    if not start.startswith(MAGIC):
        return None
    try:
        tensors, values = read_start(io.BytesIO(start), len(start))
        architecture = str(values.get(ARCHITECTURE, ""))
        if not architecture:
            return None
        pooling, heads, layers, width = (
            whole_number(values, key.replace("{arch}", architecture))
            for key in (POOLING, HEADS, BLOCKS, WIDTH)
        )
    except BadGguf:
        return None
    kind = kind_of(architecture, str(values.get(TYPE, "model")), pooled=bool(pooling))
    family = str(values.get(BASENAME, ""))
    if kind == "projector":
        return Glance(architecture, kind, _projection_width(values), family)
    if kind == "chat" and heads and tensors < _PER_LAYER * layers:
        kind = _kind_from_tensors(path)
    return Glance(architecture, kind, width, family)


def _projection_width(values: Mapping[str, Value]) -> int:
    for key in PROJECTION:
        width = values.get(key)
        if isinstance(width, int):
            return width
    return 0


def _kind_from_tensors(path: Path) -> Kind:
    """Return the kind from the list of tensors. An unreadable file raises its error when loaded."""
    try:
        return read_header(path).kind
    except EngineError:
        return "chat"
