"""Words that the lines about MTP of several engines have in common: pure."""

from __future__ import annotations


def ahead(depth: int) -> str:
    """Say how many tokens are drafted ahead."""
    return "1 token ahead" if depth == 1 else f"{depth} tokens ahead"


def times(gain: float) -> str:
    """Write a gain as people do: “1.4x”."""
    return f"{gain:.2g}x"
