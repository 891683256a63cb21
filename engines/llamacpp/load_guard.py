"""Refuses a load for which the system would kill the app."""

from __future__ import annotations

from pathlib import Path

from engines.errors import Action, NotEnoughMemory
from engines.hardware.memory import measure_memory, within_limits
from engines.memory.buffers import CPU
from engines.memory.formula.weights import weights
from engines.memory.planner import by_formula
from engines.models.gguf.header import GgufHeader
from engines.models.gguf.projector import ProjectorFacts
from engines.sentences import N_
from engines.text import amount
from engines.types import LlamaPlan


def require_memory(
    header: GgufHeader,
    plan: LlamaPlan,
    drafter: GgufHeader | None = None,
    projector: ProjectorFacts | None = None,
) -> None:
    """Refuse a plan that must keep more in the computer's memory than is free.

    Linux promises more memory than it has: llama.cpp gets its KV cache, and is killed when it
    clears it. Weights mapped from the file can leave memory again and do not count here, except for
    those that llama.cpp copies into a layout that suits the processor. `planner.check` judges
    whether a plan is a good one. A plan that is to be loaded anyway is not refused.

    Args:
        header: The model's header.
        plan: The plan to check.
        drafter: The header of the plan's drafter.
        projector: Facts about the plan's projector.

    Raises:
        NotEnoughMemory: The plan needs more memory than is free.
    """
    if plan.anyway:
        return
    ram = by_formula(header, plan, drafter).ram
    mapped = _mapped(header, plan)
    if drafter is not None and plan.draft_max:
        mapped += _mapped(drafter, plan)
    need = ram.total - mapped
    if not plan.gpu_layers:
        # llama.cpp reads adapters into buffers in addition to the weights that they change.
        need += sum(_bytes_of(adapter.path) for adapter in plan.adapters)
    if projector is not None and not plan.gpu_layers:
        need += projector.memory_bytes
    available = within_limits(measure_memory(), Path("/")).available_bytes
    if need > available:
        raise NotEnoughMemory(
            N_(
                "There is not enough memory for “{name}” with a context of {context} tokens.",
                name=plan.model.name,
                context=f"{plan.context:,}",
            ),
            N_(
                "It needs {need}, most of it for the KV cache, and {have} are free.",
                need=amount(need),
                have=amount(available),
            )
            if ram.kv > need // 2
            else N_(
                "It needs {need}, and {have} are free.", need=amount(need), have=amount(available)
            ),
            N_("Choose a smaller model, or close other programs.")
            if ram.weights - mapped > need // 2
            else N_("Set a smaller context, or close other programs."),
            Action("load_anyway"),
        )


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # loading it fails later, with the reason


def _mapped(header: GgufHeader, plan: LlamaPlan) -> int:
    """Return the bytes of weights in the computer's own memory that are mapped from the file."""
    count = header.block_count
    first = count + 1 - (count + 1 if plan.gpu_layers < 0 else min(plan.gpu_layers, count + 1))

    def device(layer: int) -> str:
        return "card" if layer >= first else CPU

    stay = plan.experts_in_ram if plan.gpu_layers else 0
    heads = plan.draft_max > 0
    return weights(header, device, mmap=plan.mmap, heads=heads, experts_in_ram=stay)[CPU].mapped
