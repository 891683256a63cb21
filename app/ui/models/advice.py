"""How large a model file may be for the memory there is; pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from app.ui.format import GB

_SHARE = 0.75
"""The part of the free memory that a model file may take; the rest is for its context and us."""


@dataclass(frozen=True)
class ModelSize:
    """parameters: in billions. file_bytes: of a file in 4-bit quantisation, roughly."""

    parameters: float
    file_bytes: int


SIZES = (
    ModelSize(1, round(0.8 * GB)),
    ModelSize(4, round(2.6 * GB)),
    ModelSize(8, 5 * GB),
    ModelSize(12, round(7.5 * GB)),
    ModelSize(27, round(16.5 * GB)),
    ModelSize(70, 42 * GB),
)


def largest_file(available_bytes: int) -> int:
    """The largest model file that is comfortable, in bytes."""
    return round(available_bytes * _SHARE)


def largest_model(available_bytes: int) -> ModelSize | None:
    """The largest usual size of model that is comfortable; None if none is."""
    room = largest_file(available_bytes)
    fitting = [size for size in SIZES if size.file_bytes <= room]
    return fitting[-1] if fitting else None
