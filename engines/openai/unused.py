"""Notes on the parts of a request that a server ignores, one sentence for each. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final

from engines.openai.kinds import HABITS, TOOLS
from engines.openai.values import ServerKind
from engines.sentences import N_
from engines.types import ChatRequest, Sampling

MIN_P_WITH_MTP: Final = N_(
    "With MTP, vLLM does not use the sampling settings min-p and logit bias."
)


def unused(
    request: ChatRequest, kind: ServerKind, without: Set[str] = frozenset(), *, drafts: bool = False
) -> tuple[str, ...]:
    """List the parts of a request that the server ignores, if that makes a difference.

    Settings that are turned off make none.

    Args:
        without: Fields that this server has refused.
        drafts: The server drafts tokens ahead.
    """
    habits = HABITS[kind]
    notes = [
        *_declined(request.sampling, without),
        *_unsampled(request.sampling, kind, without, drafts=drafts),
    ]
    if request.thinking_budget is not None and (habits.budget is None or habits.budget in without):
        notes.append(N_("This server cannot limit how long a model thinks."))
    if request.thinking is not None and not habits.template:
        notes.append(N_("With this server, thinking cannot be switched on or off from here."))
    return (*notes, *_tools(request, kind, without))


def _tools(request: ChatRequest, kind: ServerKind, without: Set[str]) -> Iterator[str]:
    """Yield the restrictions on tools that this server cannot enforce."""
    must_call = request.tool_choice == "required"
    if not request.tools or (must_call and kind == "vllm" and TOOLS in without):
        return  # vLLM is then forced to write exactly one call
    if must_call and (TOOLS in without or not HABITS[kind].tool_choice):
        yield N_("This server cannot make the model ask for a tool.")
    if not request.parallel_tools and {TOOLS, "parallel_tool_calls"} & without:
        yield N_("This server may ask for several tools at once.")


def _declined(sampling: Sampling, without: Set[str]) -> Iterator[str]:
    """Yield the fields of the protocol itself that this server does not accept."""
    if "temperature" in without:
        yield N_("This server accepts no temperature for this model; its own was used.")
    if sampling.temperature > 0 and sampling.top_p < 1 and "top_p" in without:
        yield N_("This server does not support top-p; it was not used.")
    if sampling.presence_penalty and "presence_penalty" in without:
        yield N_("This server does not support a presence penalty; it was not used.")
    if sampling.frequency_penalty and "frequency_penalty" in without:
        yield N_("This server does not support a frequency penalty; it was not used.")
    if sampling.logit_bias and "logit_bias" in without:
        yield N_("This server does not support logit bias; it was not used.")
    if sampling.logprobs is not None and {"logprobs", "top_logprobs"} & without:
        yield N_("This server does not tell how likely tokens were.")
    if sampling.seed is not None and "seed" in without:
        yield N_("This server accepts no seed; the same question may be answered differently.")


def _unsampled(
    sampling: Sampling, kind: ServerKind, without: Set[str], *, drafts: bool
) -> list[str]:
    habits = HABITS[kind]
    repeats = habits.repeat is not None and habits.repeat not in without
    chosen = sampling.temperature > 0
    notes = []
    if sampling.temperature > habits.hottest and "temperature" not in without:
        most = f"{habits.hottest:g}"
        notes.append(
            N_("This server accepts no temperature above {most}, so {most} was used.", most=most)
        )
    if chosen and sampling.top_k and (not habits.top_k or "top_k" in without):
        notes.append(N_("This server does not support top-k; it was not used."))
    if chosen and sampling.min_p and (not habits.min_p or "min_p" in without):
        notes.append(N_("This server does not support min-p; it was not used."))
    elif drafts and kind == "vllm" and ((chosen and sampling.min_p) or sampling.logit_bias):
        notes.append(MIN_P_WITH_MTP)
    if sampling.repeat_penalty != 1 and not repeats:
        notes.append(N_("This server does not support a repeat penalty; it was not used."))
    elif sampling.repeat_penalty != 1 and (
        habits.repeat_last_n is None or habits.repeat_last_n in without
    ):
        notes.append(
            N_("This server applies the repeat penalty to the whole text, not only to its end.")
        )
    return notes
