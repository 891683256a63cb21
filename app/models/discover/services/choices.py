"""The choices that a repository offers, in words and with a first verdict: pure."""

from __future__ import annotations

from collections.abc import Callable

from app.models.discover.values.offers import Choice
from app.models.hub.repository import choose
from app.models.hub.values.hub import Repository, Variant
from app.models.library.values.quantisations import best_variant, quantisation_of
from engines.memory.fit import Verdict

_BITS = 4.9
"""The bits per weight of the most common quantisation (Q4_K_M)."""
_SHARE = 0.85
"""The share of the memory that weights can take; the rest is for the context and computing."""


def choices_of(repository: Repository, quick: Callable[[int], Verdict]) -> tuple[Choice, ...]:
    """List the variants, smallest first; at most one is recommended.

    Args:
        quick: Gives a first verdict on a model, from its size in bytes.
    """
    chosen = choose(repository.files, repository.id)

    def fits(variant: Variant) -> Verdict:
        drafter = chosen.drafter_for(variant)
        return quick(variant.size_bytes + (drafter.size if drafter else 0))

    best = best_variant(repository.variants, fits)
    return tuple(
        Choice(
            variant,
            quantisation_of(variant.label).words,
            fits(variant),
            variant == best,
            chosen.drafter_for(variant),
            chosen.projector_for(variant),
        )
        for variant in repository.variants
    )


def most_parameters(memory_bytes: int) -> int:
    """Return the parameters of the largest 4-bit model that fits in a memory."""
    return int(memory_bytes * _SHARE * 8 / _BITS)
