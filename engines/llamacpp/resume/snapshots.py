"""State snapshots of the live sequence, to return to where memory cannot be rolled back.

A recurrent state cannot go back, and a sliding window forgets the keys before it. A state snapshot
is a copy of just that part, taken at the end of a turn or within a long prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

MOST: Final = 8
"""The most state snapshots of one sequence; each takes some hundred KB to some ten MB."""


@dataclass(frozen=True)
class StateSnapshot:
    """A copy of the state that cannot be rolled back, after the first `length` tokens."""

    length: int
    state: bytearray


def most_crowded(lengths: Sequence[int]) -> int:
    """Return the index of the snapshot that matters least: the one with the closest neighbours.

    The last two stay: the end of the last answer, and the place from which it can be regenerated.
    """
    candidates = range(max(1, len(lengths) - 2))
    following = [*lengths[1:], lengths[-1]]
    return min(candidates, key=lambda at: following[at] - (lengths[at - 1] if at else 0))


class StateSnapshots:
    """The state snapshots of the live sequence, shortest first, within a budget of bytes."""

    def __init__(self, budget_bytes: int) -> None:
        self._budget = budget_bytes
        self._snapshots: list[StateSnapshot] = []

    @property
    def all(self) -> tuple[StateSnapshot, ...]:
        """The snapshots, shortest first."""
        return tuple(self._snapshots)

    @property
    def lengths(self) -> list[int]:
        """The number of tokens before each snapshot, shortest first."""
        return [snapshot.length for snapshot in self._snapshots]

    @property
    def size(self) -> int:
        """The total size in bytes."""
        return sum(len(snapshot.state) for snapshot in self._snapshots)

    def fits(self, size: int) -> bool:
        """Return whether a snapshot of `size` bytes fits in the whole budget."""
        return size <= self._budget

    def add(self, snapshot: StateSnapshot) -> None:
        """Add a snapshot after all others; if there is no room, drop others."""
        self._snapshots.append(snapshot)
        while len(self._snapshots) > MOST or self.size > self._budget:
            del self._snapshots[most_crowded(self.lengths)]

    def at(self, length: int) -> StateSnapshot:
        """Return the snapshot of exactly this length."""
        return next(snapshot for snapshot in self._snapshots if snapshot.length == length)

    def cut(self, length: int) -> None:
        """Forget the snapshots after the first `length` tokens."""
        self._snapshots = [snapshot for snapshot in self._snapshots if snapshot.length <= length]

    def replace(self, snapshots: Iterable[StateSnapshot]) -> None:
        """Drop all snapshots, and hold these instead, shortest first."""
        self._snapshots = list(snapshots)
