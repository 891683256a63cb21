"""Translates a plan into the nearest plan for another engine, with notes on differences. Pure.

it = equivalent(plan, "llamacpp", Target("vllm", folder, context_max=8192, drafts=True))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from engines.memory.checkpoint_plan import USUAL_DEPTH
from engines.sentences import N_
from engines.types import MAX_DEPTH, EngineName, LoadPlan


@dataclass(frozen=True)
class Target:
    """The engine and the files that a plan is translated for.

    Attributes:
        model: A GGUF file, a checkpoint's folder, or the model's name on a server.
        drafter: File or folder of the drafter.
        drafts: Something there can draft tokens ahead.
        context_max: Tokens that the model was trained for; 0 if unknown.
        depth: Tokens to draft ahead by the advice of the model's makers.
        threads: Number of threads for llama.cpp on this computer.
        profile: Profile of a server.
    """

    engine: EngineName
    model: Path
    drafter: Path | None = None
    drafts: bool = False
    context_max: int = 0
    depth: int | None = None
    threads: int = 1
    profile: str = ""


@dataclass(frozen=True)
class Equivalent:
    """A translated plan, and one sentence for each difference."""

    plan: LoadPlan
    notes: tuple[str, ...]


def equivalent(plan: LoadPlan, source: EngineName, target: Target) -> Equivalent:
    """Translate a plan; settings that the other engine lacks get its defaults."""
    if target.engine == source:
        return Equivalent(replace(plan, model=target.model, drafter=target.drafter), ())
    notes: list[str] = []
    context = min(plan.context, target.context_max or plan.context)
    if context < plan.context and target.engine != "remote":
        notes.append(
            N_(
                "The context is {context} tokens instead of {plan_context}: the model there was "
                "trained for no more.",
                context=f"{context:,}",
                plan_context=f"{plan.context:,}",
            )
        )
    plain = LoadPlan(
        model=target.model,
        context=context,
        threads=0,
        batch_threads=0,
        kv_type=plan.kv_type,
        drafter=target.drafter,
        draft_max=0,
        anyway=plan.anyway,
    )
    if target.engine == "vllm":
        return Equivalent(_for_vllm(plan, source, plain, target, notes), tuple(notes))
    if target.engine == "llamacpp":
        return Equivalent(_for_llamacpp(plan, plain, target, notes), tuple(notes))
    notes += [
        N_("Context, KV cache and memory are set at the server, not here."),
        N_("Whether the server guesses ahead (MTP) is its own setting."),
    ]
    served = replace(plain, server=target.profile, served=str(target.model), drafter=None)
    return Equivalent(served, tuple(notes))


def _for_vllm(
    plan: LoadPlan, source: EngineName, plain: LoadPlan, target: Target, notes: list[str]
) -> LoadPlan:
    if plan.kv_type == "q4_0":
        notes.append(N_("The KV cache is FP8, 8 bits instead of 4: vLLM has none of 4 bits."))
    elif plan.kv_type == "q8_0":
        notes.append(N_("The KV cache is FP8: 8 bits as here, rounded in another way."))
    if source == "llamacpp":
        if plan.threads:
            notes.append(N_("A number of threads has no meaning in vLLM, which chooses its own."))
        if plan.gpu_layers >= 0:
            notes.append(
                N_("vLLM puts all layers on the card; it cannot leave some on the processor.")
            )
        if plan.experts_in_ram:
            notes.append(N_("vLLM keeps the experts of a mixture with their layers, on the card."))
        if len(plan.devices) > 1:
            notes.append(N_("Several cards share each layer in vLLM (tensor parallel)."))
    depth = (target.depth or USUAL_DEPTH) if plan.draft_max and target.drafts else 0
    if depth:
        notes.append(
            N_(
                "vLLM always guesses {depth} tokens ahead, and restarts to change that; llama.cpp "
                "chooses a number for each answer.",
                depth=depth,
            )
        )
    elif plan.draft_max:
        notes.append(N_("Nothing guesses ahead there: this checkpoint has no head and no drafter."))
    return replace(
        plain,
        kv_type="f16" if plan.kv_type == "f16" else "q8_0",
        gpu_layers=-1,
        drafter=target.drafter if depth else None,
        draft_max=depth,
        tensor_parallel=max(plan.tensor_parallel, len(plan.devices), 1),
        parallel=plan.parallel,
        memory_share=plan.memory_share,
        nodes=plan.nodes,
        adapters=plan.adapters,
        offload_bytes=plan.offload_bytes,
        batched=plan.batched,
        prefix_cache=plan.prefix_cache,
    )


def _for_llamacpp(plan: LoadPlan, plain: LoadPlan, target: Target, notes: list[str]) -> LoadPlan:
    if plan.parallel > 1:
        notes.append(
            N_(
                "With llama.cpp each of {parallel} answers at once takes memory for a context of "
                "its "
                "own.",
                parallel=plan.parallel,
            )
        )
    if plan.memory_share is not None:
        notes.append(
            N_("llama.cpp takes the memory that the model needs, and no share of the card.")
        )
    if plan.tensor_parallel > 1:
        notes.append(
            N_("llama.cpp gives whole layers to each card, one card after the other works.")
        )
    if plan.nodes > 1:
        notes.append(N_("llama.cpp uses this computer only."))
    if plan.offload_bytes:
        notes.append(N_("llama.cpp leaves whole layers in RAM by itself, and computes them there."))
    if plan.adapters:
        notes.append(N_("vLLM’s LoRA adapters are folders; llama.cpp uses those in GGUF files."))
    if plan.draft_max and target.drafts:
        notes.append(N_("How many tokens are guessed ahead is chosen for each answer."))
    elif plan.draft_max:
        notes.append(
            N_("No drafter's file for this model is here, so only copied text is guessed.")
        )
    return replace(
        plain,
        threads=target.threads,
        batch_threads=target.threads,
        gpu_layers=-1,
        draft_max=MAX_DEPTH if plan.draft_max else 0,
        parallel=plan.parallel,
    )
