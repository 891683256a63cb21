"""Words that the lines about MTP of several engines have in common: pure."""

from __future__ import annotations


def ahead(depth: int) -> str:
    """Say how many tokens are drafted ahead."""
    return "1 token ahead" if depth == 1 else f"{depth} tokens ahead"


def times(gain: float) -> str:
    """Write a gain as people do: “1.4x”."""
    return f"{gain:.2g}x"


PAYS = 1.05
"""Measured gains below this are within what answers differ by."""


def looked_up(depth: int, drafted: int, accepted: int, gain: float | None) -> str:
    """Say what the text itself drafts, for a model that has nothing else which could.

    It is not called MTP, and not faster before that was measured.
    """
    far, held = ahead(depth), f"{round(100 * accepted / drafted)} %"
    if gain is None:
        return f"Only copied text is guessed: {far}, {held} accepted"
    if gain < PAYS:
        return f"Copied text comes no faster: {far}, {held} accepted, {times(gain)} measured here"
    return f"Copied text comes faster: {far}, {held} accepted, {times(gain)} measured here"
