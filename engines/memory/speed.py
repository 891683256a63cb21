"""Estimates how fast a model writes, from the bytes that it reads for each token. Pure.

speed = decoding_speed([Reading(bytes_=2_000_000_000, rate=45e9)])
print(speed.about)  # tokens per second

Each token requires one read of the active weights and of the KV cache so far. llama.cpp reaches a
share of the memory's bandwidth for that, and takes a fixed time for each token in addition. In
measurements on a processor with models of 0.2 to 2 GB in Q4_0, Q4_K, Q8_0 and F16 the estimate was
0.8 to 1.0 of the real speed. The shares for cards come from published measurements. The share is
lower for experts, because each token selects other ones, which suits cards badly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_PROCESSOR: Final = 0.68
_CARD: Final = 0.8
_CARD_WITH_EXPERTS: Final = 0.5
_PER_TOKEN_S: Final = 0.001
_PER_TOKEN_CARD_S: Final = 0.0025
_SPREAD: Final = 0.3


@dataclass(frozen=True)
class Reading:
    """The bytes read from one memory for one token.

    Attributes:
        rate: Bandwidth of that memory in bytes per second.
        card: A graphics card reads it.
        experts: Only some of a model's experts are read.
    """

    bytes_: float
    rate: float
    card: bool = False
    experts: bool = False


@dataclass(frozen=True)
class Speed:
    """A speed in tokens per second.

    Attributes:
        about: The estimate.
        at_least: The bandwidth is a lower bound, so the speed has no upper one.
    """

    about: float
    at_least: bool = False

    @property
    def low(self) -> float:
        """The lower end of the likely range, in tokens per second."""
        return self.about * (1 - _SPREAD)

    @property
    def high(self) -> float:
        """The upper end of the likely range, in tokens per second."""
        return self.about * (1 + _SPREAD)


def decoding_speed(readings: Iterable[Reading], *, at_least: bool = False) -> Speed:
    """Estimate the speed; the memories are read in turn, as their layers follow each other."""
    seconds = 0.0
    for reading in readings:
        share = (_CARD_WITH_EXPERTS if reading.experts else _CARD) if reading.card else _PROCESSOR
        seconds += reading.bytes_ / (reading.rate * share)
        seconds += _PER_TOKEN_CARD_S if reading.card else _PER_TOKEN_S
    return Speed(1 / seconds, at_least)
