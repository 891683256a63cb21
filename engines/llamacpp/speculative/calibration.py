"""Measures what checking drafts costs a loaded model on this computer."""

from __future__ import annotations

from time import perf_counter
from typing import Final

from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.llamacpp.cache import KvCache
from engines.llamacpp.context import EVALUATED, Context
from engines.llamacpp.mtp import Drafter
from engines.llamacpp.sampling import Sampler
from engines.llamacpp.speculative.costs import Costs
from engines.llamacpp.speculative.drafting import Drafting
from engines.sentences import N_

BUDGET_S: Final = 0.3
_DEPTHS: Final = (0, 1, 3, 7)
_ROUNDS: Final = 8
_DRAFTED: Final = 3
_REPEATED_S: Final = 0.05
"""For steps that take longer, in seconds, llama.cpp's preparation of a new graph is negligible."""


def measure_costs(
    context: Context, cache: KvCache, drafting: Drafting, sampler: Sampler, cancel: CancelToken
) -> Costs:
    """Measure the cost curve with steps in an empty context, for a few hundred milliseconds.

    Each time is the median of several rounds in which all depths take turns: other programs slow
    steps that wait for memory more than steps that compute, and they will also run while answers
    are written. A slow model gets one round. Of two equal steps, the longer one was held up. The
    cache is empty afterwards.
    """
    from statistics import median, median_low

    drafting.expose()
    # If this step reads the weights from disk, it is the longest and does not count.
    steps = {0: [_step(context, cache, sampler, 0)]}
    began = perf_counter()
    switches: list[float] = []
    drafts: list[float] = []
    for _ in range(_ROUNDS):
        for depth in _DEPTHS:
            if depth > context.drafts or cancel.cancelled:
                continue
            if depth in steps and perf_counter() - began > BUDGET_S:
                continue
            seconds = _step(context, cache, sampler, depth)
            quick, most = seconds < _REPEATED_S, (depth + 1) * min(steps[0])
            if quick or seconds > most:
                # The first of two equal calls builds llama.cpp's graph; the other reuses it. A step
                # that takes longer than its tokens one by one was held up.
                again = _step(context, cache, sampler, depth)
                if quick:
                    switches.append(seconds - again)
                seconds = min(seconds, again)
            steps.setdefault(depth, []).append(seconds)
        if drafting.drafter is not None:
            drafts.append(_draft(context, cache, drafting, drafting.drafter))
        if perf_counter() - began > BUDGET_S or cancel.cancelled:
            break
    cache.clear()
    drafting.restore(None)
    drafting.hide()
    usual = {depth: median_low(seconds) for depth, seconds in steps.items()}
    # More tokens never take less time: if they seem to, the plain steps were held up.
    usual[0] = min(usual.values())
    switch = max(0.0, median(switches)) if switches else 0.0
    return Costs(usual, median(drafts) if drafts else 0.0, context.drafts, switch)


def _step(context: Context, cache: KvCache, sampler: Sampler, depth: int) -> float:
    """Return the seconds it takes to evaluate `depth` + 1 tokens and to draw as many."""
    cache.clear()
    began = perf_counter()
    if context.evaluate((0,) * (depth + 1), 0, outputs=depth + 1) != EVALUATED:
        raise _not_evaluated()
    for row in range(depth + 1):
        sampler.draw(context, row)
    return perf_counter() - began


def _draft(context: Context, cache: KvCache, drafting: Drafting, drafter: Drafter) -> float:
    """Return the seconds for one of a few drafted tokens, ignoring one that is held up.

    If all drafts come from one call, the first has waited for all.
    """
    from itertools import pairwise
    from statistics import median

    moments: list[float] = []

    def more(_token: int, _sure: int) -> bool:
        moments.append(perf_counter())
        return len(moments) <= min(_DRAFTED, context.drafts)

    cache.clear()
    drafting.restore(None)
    if context.evaluate((0,), 0, outputs=1) != EVALUATED:
        raise _not_evaluated()
    drafter.observe((0,), 0)
    moments.append(perf_counter())
    drafter.propose(0, 1, more)
    spans = [later - earlier for earlier, later in pairwise(moments)]
    if drafter.at_once and spans:
        return sum(spans) / len(spans)
    return median(spans or [perf_counter() - moments[0]])


def _not_evaluated() -> EngineFailed:
    return EngineFailed(
        N_("The model was loaded, but does not work."),
        N_("llama.cpp could not evaluate the first tokens."),
        N_("Try another model, or update Hearth."),
        terminal=N_(
            "Try another model, or update Hearth; `hearth doctor` checks what commonly breaks."
        ),
    )
