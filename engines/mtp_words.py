"""Words that the status lines of several engines about MTP share; pure functions."""

from __future__ import annotations


def ahead(depth: int) -> str:
    """Return how many tokens are drafted ahead, in words."""
    return "1 token ahead" if depth == 1 else f"{depth} tokens ahead"


def times(gain: float) -> str:
    """Return a speed-up as people write it: “1.4x”."""
    return f"{gain:.2g}x"


PAYS = 1.05
"""The smallest measured gain that counts; answers vary by less than this anyway."""


def looked_up(depth: int, drafted: int, accepted: int, gain: float | None) -> str:
    """Return a line about drafting from the text itself, for a model that has no other drafter.

    It is not called MTP, and not called faster before that has been measured.
    """
    far, held = ahead(depth), f"{round(100 * accepted / drafted)} %"
    if gain is None:
        return f"Only copied text is guessed: {far}, {held} accepted"
    if gain < PAYS:
        return f"Copied text comes no faster: {far}, {held} accepted, {times(gain)} measured here"
    return f"Copied text comes faster: {far}, {held} accepted, {times(gain)} measured here"
