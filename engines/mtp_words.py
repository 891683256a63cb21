"""Words that the lines about MTP of several engines have in common: pure."""

from __future__ import annotations


def ahead(depth: int) -> str:
    """How far it is drafted, in tokens."""
    return "1 token ahead" if depth == 1 else f"{depth} tokens ahead"


def times(gain: float) -> str:
    """A gain as people write it: “1.4x”."""
    return f"{gain:.2g}x"
