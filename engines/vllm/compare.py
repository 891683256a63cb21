"""Checks that a greedy answer with drafts equals the one without; vLLM starts once for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.openai.answering import answer
from engines.types import ChatRequest, Done, MtpCheck, ReasoningDelta, TextDelta, VllmPlan
from engines.vllm.running import Running

_TOKENS: Final = 128


def check_mtp(
    start: Callable[[VllmPlan], Running],
    plan: VllmPlan,
    request: ChatRequest,
    depth: int,
    cancel: CancelToken,
) -> MtpCheck:
    """Answer once with drafts and once without, and compare the tokens.

    The run with the plan's own draft depth comes last, because its worker can then stay. The
    compared tokens come from tokenising the two texts, so equal texts count as equal even if their
    tokens differed. The result has no gap between logits, because vLLM returns none.

    Raises:
        MtpUnavailable: Nothing can draft for this model.
        Cancelled: The comparison was cancelled.
        EngineError: A start failed.
    """
    greedy = replace(
        request,
        sampling=replace(request.sampling, temperature=0.0),
        max_tokens=request.max_tokens or _TOKENS,
    )
    plans = [replace(plan, draft_max=0), replace(plan, draft_max=depth)]
    if plan.draft_max == depth:
        plans.reverse()
    results = {}
    for compared in plans:
        running = start(compared)
        results[compared.draft_max] = _answer(running, greedy, cancel)
    (plain, _), (drafted, accepted) = results[0], results[depth]
    for position, (one_token, other) in enumerate(zip_longest(plain, drafted)):
        if one_token != other:
            return MtpCheck(False, position, depth, accepted)
    return MtpCheck(True, len(plain), depth, accepted)


def _answer(running: Running, request: ChatRequest, cancel: CancelToken) -> tuple[list[int], int]:
    """Return the tokens of an answer, and how many drafted tokens it accepted."""
    text, accepted = "", 0
    for event in answer(request, running.access, cancel):
        if isinstance(event, TextDelta | ReasoningDelta):
            text += event.text
        elif isinstance(event, Done):
            accepted = event.mtp.accepted
    if cancel.cancelled:
        raise Cancelled
    body = {"model": running.access.model, "prompt": text, "add_special_tokens": False}
    return running.access.client.tokenize(body) or [], accepted
