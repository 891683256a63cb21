"""The first few facts of a GGUF file, for long lists of files: a thousandth of its header is read.

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
from engines.models.gguf.layers import Keys
from engines.models.gguf.reader import MAGIC, BadGguf, Value, read_start

_LOOK: Final = 128 << 10
_PER_LAYER: Final = 2
"""A whole model has at least this many tensors a layer; a head that was cut off has fewer."""


@dataclass(frozen=True)
class Glance:
    """kind: as in `GgufHeader`. width: values of a hidden state; of a projector those it makes.

    0 where the file does not say it early enough. family: what a model and its projector are both
    called, empty if they are not.
    """

    architecture: str
    kind: Kind
    width: int
    family: str = ""

    def sees_with(self, projector: Glance) -> bool:
        """Whether a projector makes what this model takes in, as far as the two tell."""
        return (not (self.width and projector.width) or self.width == projector.width) and (
            not (self.family and projector.family) or self.family == projector.family
        )


def glance(path: Path) -> Glance | None:
    """None for what is no GGUF file, or cannot be read. Raises OSError."""
    with path.open("rb") as file:
        start = file.read(_LOOK)
    if not start.startswith(MAGIC):
        return None
    try:
        tensors, values = read_start(io.BytesIO(start), len(start))
        architecture = str(values.get("general.architecture", ""))
        if not architecture:
            return None
        keys = Keys(architecture, values)
        kind = kind_of(keys, str(values.get("general.type", "model")))
        heads, layers = keys.number("nextn_predict_layers"), keys.number("block_count")
    except BadGguf:
        return None
    family = str(values.get("general.basename", ""))
    if kind == "projector":
        return Glance(architecture, kind, _projected(values), family)
    if kind == "chat" and heads and tensors < _PER_LAYER * layers:
        kind = _whole_kind(path)
    return Glance(architecture, kind, keys.number("embedding_length"), family)


def _projected(values: Mapping[str, Value]) -> int:
    for sense in ("vision", "audio"):
        width = values.get(f"clip.{sense}.projection_dim")
        if isinstance(width, int):
            return width
    return 0


def _whole_kind(path: Path) -> Kind:
    """What only the list of tensors can tell. A file that cannot be read says why when loaded."""
    try:
        return read_header(path).kind
    except EngineError:
        return "chat"
