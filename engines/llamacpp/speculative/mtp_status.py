"""The line that always says what MTP does, and why. Pure.

Each sentence is one template, so that a window can say it in another language; see
`app.base.templates`.
"""

from __future__ import annotations

from engines.llamacpp.speculative.costs import Costs
from engines.mtp_words import ahead, looked_up, times
from engines.sentences import N_
from engines.types import MtpKind

OFF = N_("MTP is off, as chosen.")
AFTER_MEDIA = N_("MTP is off for this answer: the drafter cannot read pictures or sounds.")
TOO_FAST = N_("This model answers so fast that guessing ahead would not help.")
_ONCE_MORE = 1.02
"""Gains below this are within the error of measurement."""

_HARDLY_EVER = 0.97
"""A share of right guesses that no text sustains."""


def running(
    kind: MtpKind, depth: int, drafted: int, accepted: int, gain: float | None, bound: float
) -> str:
    """Say how far ahead drafts go, how many hold, and what they gain.

    Args:
        kind: The kind of drafter; if it is only the text, the line does not call it MTP.
        depth: The usual number of drafts in a step.
        drafted: Number of drafted tokens.
        accepted: Number of accepted drafts.
        gain: The speed relative to plain steps; None if not known.
        bound: The gain by the cost curve alone.
    """
    if kind == "lookup" and drafted:
        return looked_up(depth, drafted, accepted, gain)
    far = ahead(depth)
    if not drafted:
        return N_("MTP on: {far}", far=far)
    acceptance = f"{round(100 * accepted / drafted)} %"
    if gain is None:
        return N_("MTP on: {ahead}, {accepted} accepted", ahead=far, accepted=acceptance)
    return N_(
        "MTP on: {ahead}, {accepted} accepted, {gain} of at most {bound}",
        ahead=far,
        accepted=acceptance,
        gain=times(gain),
        bound=times(max(bound, gain)),
    )


def cannot_win(costs: Costs) -> str | None:
    """Say why drafts cannot pay on this processor, whatever the text; None if they can."""
    if costs.too_fast:
        return TOO_FAST
    if costs.best_possible() >= _ONCE_MORE:
        return None
    price = costs.prices
    depth = max(range(1, costs.limit + 1), key=lambda k: (k + 1) / price[k])
    guesses = N_("one guess") if depth == 1 else f"{depth} guesses"
    return N_(
        "No gain on this computer: a step with {guesses} takes {price} times as long and "
        "writes at most {depth} tokens.",
        guesses=guesses,
        price=f"{price[depth]:.1f}",
        depth=depth + 1,
    )


def no_gain(costs: Costs, share: float) -> str:
    """Say why drafts do not pay in this text.

    Args:
        costs: The costs of steps and drafts.
        share: The share of recent first guesses that were right.
    """
    least = break_even(costs)
    if share >= least or least > _HARDLY_EVER:
        return N_("Off for now: no gain in this text")
    return N_(
        "Off for now: only {share} % of the latest guesses were right, and it helps from {least} %",
        share=round(100 * share),
        least=max(round(100 * least), round(100 * share) + 1),
    )


def break_even(costs: Costs) -> float:
    """Return the acceptance of each guess, 0 to 1, at which some depth is as fast as none."""
    low, high = 0.0, 1.0
    while high - low > 0.005:
        share = (low + high) / 2
        tokens, best = 1.0, 0.0
        for k in range(1, costs.limit + 1):
            tokens += share**k
            best = max(best, tokens / costs.prices[k])
        low, high = (low, share) if best >= 1 else (share, high)
    return high


def standing(kind: MtpKind, costs: Costs | None, advice: str) -> str:
    """Say before the first answer what can draft.

    Args:
        kind: The kind of drafter.
        costs: The costs of steps and drafts; None if not measured.
        advice: The sentence for a model without a drafter.
    """
    if costs is not None and costs.too_fast:
        return TOO_FAST
    if kind not in {"embedded", "drafter"}:
        return advice
    if costs is None:
        return N_("This model can answer faster.")
    most = f"{costs.best_possible():.2f}x"
    return cannot_win(costs) or N_(
        "This model can answer faster: up to {most} on this computer", most=most
    )
