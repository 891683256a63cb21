"""The facts of a model file as JSON and back, for what this version of Hearth reads again."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from engines.models.gguf.header import GgufHeader
from engines.models.gguf.layers import CacheLayer, Layers

_CACHES = {"caches", "head_caches"}


def to_json(header: GgufHeader) -> str:
    """Of a header without its tensors."""
    return json.dumps(asdict(header))


def from_json(text: str) -> GgufHeader:
    """Raises ValueError where it is not what `to_json` made."""
    try:
        values = json.loads(text)
        layers = values.pop("layers")
        return GgufHeader(**{**values, "tensors": ()}, layers=_layers(layers) if layers else None)
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a header: {error}") from error


def _layers(values: dict[str, Any]) -> Layers:
    """Lists become tuples, so that what comes back equals what went."""
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items()
        if name not in _CACHES
    }
    caches: dict[str, Any] = {
        name: tuple(CacheLayer(**each) for each in values[name]) for name in _CACHES
    }
    return Layers(**plain, **caches)
