"""Reads the first facts of a GGUF file, for long lists: a thousandth of its header.

A whole header has every token of the vocabulary, which can take half a second; what a list needs
stands before them.
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

_LOOK: Final = 128 << 10
_PER_LAYER: Final = 2
"""A whole model has at least this many tensors a layer; a head that was cut off has fewer."""


@dataclass(frozen=True)
class Glance:
    """The first facts of a file.

    kind: as in `GgufHeader`. width: values of a hidden state; of a projector those it makes; 0
    where the file does not say it early enough. family: what a model and its projector are both
    called, empty if they are not.
    """

    architecture: str
    kind: Kind
    width: int
    family: str = ""

    def sees_with(self, projector: Glance) -> bool:
        """Tell whether a projector makes what this model takes in, as far as both tell."""
        return (not (self.width and projector.width) or self.width == projector.width) and (
            not (self.family and projector.family) or self.family == projector.family
        )


def glance(path: Path) -> Glance | None:
    """Glance at a file; None for what is no GGUF, or unreadable. Raises OSError."""
    with open_regular(path) as file:
        start = file.read(_LOOK)
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
        return Glance(architecture, kind, _projected(values), family)
    if kind == "chat" and heads and tensors < _PER_LAYER * layers:
        kind = _whole_kind(path)
    return Glance(architecture, kind, width, family)


def _projected(values: Mapping[str, Value]) -> int:
    for key in PROJECTION:
        width = values.get(key)
        if isinstance(width, int):
            return width
    return 0


def _whole_kind(path: Path) -> Kind:
    """Tell the kind by the list of tensors. An unreadable file says why when loaded."""
    try:
        return read_header(path).kind
    except EngineError:
        return "chat"
