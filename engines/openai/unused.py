"""Notes on the parts of a request that a server ignores, one sentence for each. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final

from engines.openai.features import FEATURES, TOOLS
from engines.openai.values import ServerKind
from engines.sentences import N_
from engines.types import ChatRequest, Sampling

MIN_P_WITH_MTP: Final = N_(
    "With MTP, vLLM does not use the sampling settings min-p and logit bias."
)


def unused(
    request: ChatRequest, kind: ServerKind, omitted: Set[str] = frozenset(), *, drafts: bool = False
) -> tuple[str, ...]:
    """List the parts of a request that the server ignores, if that makes a difference.

    Settings that are turned off make none.

    Args:
        omitted: Fields that this server has refused.
        drafts: The server drafts tokens ahead.
    """
    features = FEATURES[kind]
    notes = [
        *_refused_fields(request.sampling, omitted),
        *_unused_sampling(request.sampling, kind, omitted, drafts=drafts),
    ]
    if request.thinking_budget is not None and (
        features.budget is None or features.budget in omitted
    ):
        notes.append(N_("This server cannot limit how long a model thinks."))
    if request.thinking is not None and not features.template:
        notes.append(N_("With this server, thinking cannot be switched on or off from here."))
    return (*notes, *_tools(request, kind, omitted))


def _tools(request: ChatRequest, kind: ServerKind, omitted: Set[str]) -> Iterator[str]:
    """Yield the restrictions on tools that this server cannot enforce."""
    must_call = request.tool_choice == "required"
    if not request.tools or (must_call and kind == "vllm" and TOOLS in omitted):
        return  # vLLM is then forced to write exactly one call
    if must_call and (TOOLS in omitted or not FEATURES[kind].tool_choice):
        yield N_("This server cannot force the model to call a tool.")
    if not request.parallel_tools and {TOOLS, "parallel_tool_calls"} & omitted:
        yield N_("This server may ask for several tools at once.")


def _refused_fields(sampling: Sampling, omitted: Set[str]) -> Iterator[str]:
    """Yield the fields of the protocol itself that this server does not accept."""
    if "temperature" in omitted:
        yield N_("This server accepts no temperature for this model; its own was used.")
    if sampling.temperature > 0 and sampling.top_p < 1 and "top_p" in omitted:
        yield N_("This server does not support top-p; it was not used.")
    if sampling.presence_penalty and "presence_penalty" in omitted:
        yield N_("This server does not support a presence penalty; it was not used.")
    if sampling.frequency_penalty and "frequency_penalty" in omitted:
        yield N_("This server does not support a frequency penalty; it was not used.")
    if sampling.logit_bias and "logit_bias" in omitted:
        yield N_("This server does not support logit bias; it was not used.")
    if sampling.logprobs is not None and {"logprobs", "top_logprobs"} & omitted:
        yield N_("This server does not report how likely the tokens were.")
    if sampling.seed is not None and "seed" in omitted:
        yield N_("This server accepts no seed; the same question may be answered differently.")


def _unused_sampling(
    sampling: Sampling, kind: ServerKind, omitted: Set[str], *, drafts: bool
) -> list[str]:
    features = FEATURES[kind]
    repeats = features.repeat is not None and features.repeat not in omitted
    is_random = sampling.temperature > 0
    notes = []
    if sampling.temperature > features.max_temperature and "temperature" not in omitted:
        most = f"{features.max_temperature:g}"
        notes.append(
            N_("This server accepts no temperature above {most}, so {most} was used.", most=most)
        )
    if is_random and sampling.top_k and (not features.top_k or "top_k" in omitted):
        notes.append(N_("This server does not support top-k; it was not used."))
    if is_random and sampling.min_p and (not features.min_p or "min_p" in omitted):
        notes.append(N_("This server does not support min-p; it was not used."))
    elif drafts and kind == "vllm" and ((is_random and sampling.min_p) or sampling.logit_bias):
        notes.append(MIN_P_WITH_MTP)
    if sampling.repeat_penalty != 1 and not repeats:
        notes.append(N_("This server does not support a repeat penalty; it was not used."))
    elif sampling.repeat_penalty != 1 and (
        features.repeat_last_n is None or features.repeat_last_n in omitted
    ):
        notes.append(
            N_("This server applies the repeat penalty to the whole text, not only to its end.")
        )
    return notes
