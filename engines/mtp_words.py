"""Words that the status lines of several engines about MTP share; pure functions."""

from __future__ import annotations

from engines.sentences import N_


def ahead(depth: int) -> str:
    """Return how many tokens are drafted ahead, in words."""
    return N_("1 token ahead") if depth == 1 else N_("{depth} tokens ahead", depth=depth)


def times(gain: float) -> str:
    """Return a speed-up as people write it: “1.4x”."""
    return f"{gain:.2g}x"


PAYS = 1.05
"""The smallest measured gain that counts; answers vary by less than this anyway."""


def looked_up(depth: int, drafted: int, accepted: int, gain: float | None) -> str:
    """Return a line about drafting from the text itself, for a model that has no other drafter.

    It is not called MTP, and not called faster before that has been measured.
    """
    depth_text, accepted_share = ahead(depth), f"{round(100 * accepted / drafted)} %"
    if gain is None:
        return N_(
            "Only copied text is guessed: {ahead}, {accepted} accepted",
            ahead=depth_text,
            accepted=accepted_share,
        )
    if gain < PAYS:
        return N_(
            "Copied text comes no faster: {ahead}, {accepted} accepted, {gain} measured here",
            ahead=depth_text,
            accepted=accepted_share,
            gain=times(gain),
        )
    return N_(
        "Copied text comes faster: {ahead}, {accepted} accepted, {gain} measured here",
        ahead=depth_text,
        accepted=accepted_share,
        gain=times(gain),
    )
