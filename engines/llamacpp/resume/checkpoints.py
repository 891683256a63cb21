"""State checkpoints of the live sequence, to return to where memory cannot be rolled back.

A recurrent state cannot go back, and a sliding window forgets the keys before it. A state
checkpoint is a copy of just that part, taken at the end of a turn or within a long prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

MOST: Final = 8
"""The most state checkpoints of one sequence; each takes some hundred KB to some ten MB."""


@dataclass(frozen=True)
class StateCheckpoint:
    """A copy of the state that cannot be rolled back, after the first `length` tokens."""

    length: int
    state: bytearray


def most_crowded(lengths: Sequence[int]) -> int:
    """Return the index of the checkpoint that matters least: the one with the closest neighbours.

    The last two stay: the end of the last answer, and the place from which it can be regenerated.
    """
    candidates = range(max(1, len(lengths) - 2))
    following = [*lengths[1:], lengths[-1]]
    return min(candidates, key=lambda at: following[at] - (lengths[at - 1] if at else 0))


class StateCheckpoints:
    """The state checkpoints of the live sequence, shortest first, within a budget of bytes."""

    def __init__(self, budget_bytes: int) -> None:
        self._budget = budget_bytes
        self._kept: list[StateCheckpoint] = []

    @property
    def kept(self) -> tuple[StateCheckpoint, ...]:
        return tuple(self._kept)

    @property
    def lengths(self) -> list[int]:
        return [checkpoint.length for checkpoint in self._kept]

    @property
    def size(self) -> int:
        """The total size in bytes."""
        return sum(len(checkpoint.state) for checkpoint in self._kept)

    def fits(self, size: int) -> bool:
        """Return whether a checkpoint of `size` bytes fits in the whole budget."""
        return size <= self._budget

    def add(self, checkpoint: StateCheckpoint) -> None:
        """Add a checkpoint after all others; if there is no room, drop others."""
        self._kept.append(checkpoint)
        while len(self._kept) > MOST or self.size > self._budget:
            del self._kept[most_crowded(self.lengths)]

    def at(self, length: int) -> StateCheckpoint:
        """Return the checkpoint of exactly this length."""
        return next(checkpoint for checkpoint in self._kept if checkpoint.length == length)

    def cut(self, length: int) -> None:
        """Forget the checkpoints after the first `length` tokens."""
        self._kept = [checkpoint for checkpoint in self._kept if checkpoint.length <= length]

    def replace(self, checkpoints: Iterable[StateCheckpoint]) -> None:
        self._kept = list(checkpoints)
