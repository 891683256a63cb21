"""The content of a memory when a model is loaded, as a picture shows it, in bytes: pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Place = Literal["memory", "graphics"]
"""The computer's own memory, or that of its graphics cards."""

Use = Literal["others", "weights", "context", "compute", "drafter", "projector"]

USES: tuple[Use, ...] = ("others", "weights", "context", "compute", "drafter", "projector")
"""The uses in the order in which they are drawn, with the existing use first."""


Fits = Literal["fits", "tight", "partial", "no"]
"""The verdicts of `engines.memory.fit.Verdict`, for widgets, which cannot import that."""


@dataclass(frozen=True)
class MemoryUse:
    """One memory and its content.

    The other fields are the bytes that the model would add: its weights, its context (KV cache),
    the compute buffers, its drafter, and its projector.

    Attributes:
        limit: All of the memory that can be used.
        others: The part that the system and other programs use.
    """

    place: Place
    limit: int
    others: int = 0
    weights: int = 0
    context: int = 0
    compute: int = 0
    drafter: int = 0
    projector: int = 0

    @property
    def parts(self) -> tuple[tuple[Use, int], ...]:
        """The amounts above zero, in the order in which they are drawn."""
        amounts: list[tuple[Use, int]] = [(use, getattr(self, use)) for use in USES]
        return tuple((use, amount) for use, amount in amounts if amount > 0)

    @property
    def used(self) -> int:
        """The bytes that would be in use, which can exceed the limit."""
        return sum(amount for _, amount in self.parts)

    @property
    def free(self) -> int:
        """The bytes that would be left."""
        return max(0, self.limit - self.used)

    @property
    def missing(self) -> int:
        """The bytes that would be needed beyond the limit."""
        return max(0, self.used - self.limit)
