"""From a model, a computer and the user's wishes to the plan that an engine carries out: pure.

plan = make_plan(path, header, hardware, Wishes())
require_fit(header, hardware, plan)
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engines.errors import ContextTooLarge, NotEnoughMemory
from engines.fit import Fit, Split, amount, judge, split_needed
from engines.gguf_header import GgufHeader, require_chat
from engines.hardware import Gpu, Hardware, thread_rule
from engines.types import KvType, LoadPlan

DEFAULT_CONTEXT: Final = 8192
LEAST_CONTEXT: Final = 512
_STEP: Final = 256
# What a driver and its back end take on a card before any model does (CUDA: 200 to 500 MB).
_GPU_RESERVE: Final = 512 << 20


@dataclass(frozen=True)
class Wishes:
    """What the user has set; None leaves it to the plan. context in tokens."""

    context: int | None = None
    threads: int | None = None
    gpu_layers: int | None = None
    kv_type: KvType = "f16"


def make_plan(path: Path, header: GgufHeader, hardware: Hardware, wishes: Wishes) -> LoadPlan:
    """How to load the model. Whether that fits is for `check` and `require_fit` to say.

    A context the user asks for is taken as it is. Otherwise it is as long as the model was
    trained for, at most DEFAULT_CONTEXT, or less if memory is short.
    Raises NotAChatModel, or ContextTooLarge for a wish that the model cannot fulfil.
    """
    require_chat(path, header)
    threads = thread_rule(hardware.cpu, header.size_bytes)
    plan = LoadPlan(
        model=path,
        context=min(header.context_max, DEFAULT_CONTEXT),
        threads=wishes.threads or threads.decode,
        batch_threads=wishes.threads or threads.batch,
        kv_type=wishes.kv_type,
    )

    def with_context(context: int) -> LoadPlan:
        sized = replace(plan, context=context)
        return replace(sized, gpu_layers=_gpu_layers(header, hardware, sized, wishes.gpu_layers))

    if wishes.context is not None:
        _check_context(path, header, wishes.context)
        return with_context(wishes.context)
    least = min(LEAST_CONTEXT, plan.context)
    contexts = (*range(least, plan.context, _STEP), plan.context)
    too_long = bisect_left(
        contexts, 1, key=lambda it: check(header, hardware, with_context(it)).verdict == "no"
    )
    return with_context(contexts[max(0, too_long - 1)])


def _check_context(path: Path, header: GgufHeader, context: int) -> None:
    if not 1 <= context <= header.context_max:
        raise ContextTooLarge(
            f"“{path.name}” cannot have a context of {context:,} tokens.",
            f"It was trained for at most {header.context_max:,}.",
            f"Set a context between 1 and {header.context_max:,}, or 0 to let Hearth choose.",
        )


def _gpu_layers(header: GgufHeader, hardware: Hardware, plan: LoadPlan, wish: int | None) -> int:
    """The layers that go to graphics cards: all if there is room, else as many as fit."""
    room = sum(_room(gpu) for gpu in _chosen(hardware))
    if not room:
        return 0
    if wish is not None:
        return wish
    every = header.block_count + 1
    too_many = bisect_right(
        range(every + 1), room, key=lambda layers: _needed(header, plan, layers).gpu.total
    )
    return -1 if too_many > every else too_many - 1


def _needed(header: GgufHeader, plan: LoadPlan, gpu_layers: int) -> Split:
    return split_needed(header, plan.context, plan.kv_type, plan.batch, gpu_layers)


def _chosen(hardware: Hardware) -> tuple[Gpu, ...]:
    """The cards llama.cpp uses: an integrated one only where there is no other."""
    usable = tuple(gpu for gpu in hardware.gpus if gpu.usable)
    return tuple(gpu for gpu in usable if not gpu.integrated) or usable[:1]


def _room(gpu: Gpu) -> int:
    free = gpu.total_bytes if gpu.free_bytes is None else gpu.free_bytes
    return max(0, (free or 0) - _GPU_RESERVE)


def check(header: GgufHeader, hardware: Hardware, plan: LoadPlan) -> Fit:
    """Whether the plan's model fits into what is free on this computer now."""
    needed = _needed(header, plan, plan.gpu_layers)
    available = hardware.memory.available_bytes
    cards = _chosen(hardware) if plan.gpu_layers else ()
    room = sum(_room(gpu) for gpu in cards)
    device = " and ".join(gpu.name for gpu in cards) or hardware.cpu.name
    shared = any(gpu.integrated for gpu in cards)
    if not cards:
        need, have = needed.ram.total + needed.gpu.total, available
        verdict = judge(need, have)
    elif shared:
        # An integrated unit's memory is the computer's: both needs come out of one amount.
        need, have = needed.parts.total, available
        verdict = "no" if needed.gpu.total > room else judge(need, have)
    elif needed.gpu.total > room or needed.ram.total > available:
        need, have, verdict = needed.parts.total, room + available, "no"
    elif plan.gpu_layers < 0 or plan.gpu_layers > header.block_count:
        need, have = needed.gpu.total, room
        verdict = judge(need, have)
    else:
        need, have, verdict = needed.parts.total, room + available, "partial"
        device = f"{device} and {hardware.cpu.name}"
    return Fit(
        verdict=verdict,
        need_bytes=need,
        have_bytes=have,
        parts=needed.parts,
        context=plan.context,
        device=device,
        reason=_reason(verdict, need, have, plan, header),
    )


def _reason(verdict: str, need: int, have: int, plan: LoadPlan, header: GgufHeader) -> str:
    numbers = f"{amount(need)} are needed and {amount(have)} are free"
    match verdict:
        case "fits":
            return f"It fits: {numbers}."
        case "tight":
            return f"It just fits: {numbers}. Close other programs if the computer slows down."
        case "partial":
            return (
                f"{plan.gpu_layers} of its {header.block_count} layers fit on the graphics card, "
                f"the rest runs on the processor, which is slower: {numbers}."
            )
    return f"It does not fit: {numbers}."


def require_fit(header: GgufHeader, hardware: Hardware, plan: LoadPlan) -> None:
    """Raises NotEnoughMemory, with the numbers, if the plan does not fit."""
    fit = check(header, hardware, plan)
    if fit.verdict != "no":
        return
    parts = fit.parts
    shorter = (
        f"set a context below {plan.context:,} tokens, " if plan.context > LEAST_CONTEXT else ""
    )
    limit = hardware.memory.limit_bytes
    raise NotEnoughMemory(
        f"There is not enough memory for “{header.name}”: it needs {amount(fit.need_bytes)}, and "
        f"{amount(fit.have_bytes)} are free.",
        f"Its weights take {amount(parts.weights)}, the KV cache of {plan.context:,} tokens takes "
        f"{amount(parts.kv)}, and computing takes {amount(parts.compute)}"
        + (f"; this container may use {amount(limit)}." if limit else "."),
        f"Close other programs, {shorter}or choose a smaller model or quantisation.",
    )
