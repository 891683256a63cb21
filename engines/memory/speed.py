"""Estimates how fast a model will write, from what it reads for each token: pure.

speed = decoding_speed([Reading(bytes_=2_000_000_000, rate=45e9)])
print(speed.about)  # tokens a second

A token is written when the active weights and the keys and values so far have been read once.
llama.cpp reaches a share of the memory's rate at that, and takes a fixed time for each token
besides. Measured on a processor with models of 0.2 to 2 GB in Q4_0, Q4_K, Q8_0 and F16 the
estimate is 0.8 to 1.0 of the real speed. The shares for cards are taken from published
measurements; experts are chosen anew for every token, which cards take badly.
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
    """The bytes read for one token out of one memory.

    rate: bytes a second of that memory. card: whether a graphics card reads it.
    experts: whether only some of a model's experts are read.
    """

    bytes_: float
    rate: float
    card: bool = False
    experts: bool = False


@dataclass(frozen=True)
class Speed:
    """Tokens a second. at_least: the memory's rate is a lower bound, so there is no upper one."""

    about: float
    at_least: bool = False

    @property
    def low(self) -> float:
        return self.about * (1 - _SPREAD)

    @property
    def high(self) -> float:
        return self.about * (1 + _SPREAD)


def decoding_speed(readings: Iterable[Reading], *, at_least: bool = False) -> Speed:
    """Estimate the speed; memories are read one after the other, as their layers follow."""
    seconds = 0.0
    for it in readings:
        share = (_CARD_WITH_EXPERTS if it.experts else _CARD) if it.card else _PROCESSOR
        seconds += it.bytes_ / (it.rate * share)
        seconds += _PER_TOKEN_CARD_S if it.card else _PER_TOKEN_S
    return Speed(1 / seconds, at_least)
