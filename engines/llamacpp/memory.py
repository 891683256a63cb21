"""Refuses a load that the system would end by ending the whole app."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from engines.errors import NotEnoughMemory
from engines.fit import Drafting, amount, split_needed
from engines.gguf.reader import Tensor
from engines.gguf_header import GgufHeader
from engines.hardware.memory import measure_memory, within_limits
from engines.types import LoadPlan

# Source: ggml-cpu/repack.cpp, for x86. On ARM it has layouts for more types, but which of them it
# takes depends on the processor.
_REPACKED: Final = {"Q4_0", "Q4_K", "IQ4_NL", "MXFP4", "Q2_K"}


def require_memory(header: GgufHeader, plan: LoadPlan, drafter: GgufHeader | None = None) -> None:
    """Raises NotEnoughMemory if what must stay in the computer's memory exceeds what is free.

    Linux promises more memory than it has: llama.cpp gets its KV cache, and is killed when it
    clears it. Weights that are mapped from the file can leave memory again and do not count here,
    except those that llama.cpp copies into a layout that suits the processor. Whether a plan is
    a good one is for `engines.planner.check` to say. drafter: the header of the plan's drafter.
    """

    def staying(whole: GgufHeader) -> GgufHeader:
        return replace(whole, tensors=tuple(_repacked(whole))) if plan.mmap else whole

    drafting = Drafting(plan.draft_max, staying(drafter) if drafter else None)
    sizes = plan.context, plan.kv_type, plan.batch, plan.gpu_layers
    ram = split_needed(header, *sizes).ram
    kept = split_needed(staying(header), *sizes, drafting).ram
    need = ram.kv + ram.compute + kept.weights + kept.drafter
    have = within_limits(measure_memory(), Path("/")).available_bytes
    if need > have:
        raise NotEnoughMemory(
            f"There is not enough memory for “{plan.model.name}” with a context of"
            f" {plan.context:,} tokens.",
            f"It needs {amount(need)}, most of it for the KV cache, and {amount(have)} are free."
            if ram.kv > need // 2
            else f"It needs {amount(need)}, and {amount(have)} are free.",
            "Choose a smaller model, or close other programs."
            if kept.weights > need // 2
            else "Set a smaller context, or close other programs.",
        )


def _repacked(header: GgufHeader) -> Iterator[Tensor]:
    """The matrices to multiply with. A table of tokens is one if it is the output as well."""
    tied = all(tensor.name != "output.weight" for tensor in header.tensors)
    for tensor in header.tensors:
        if tensor.type not in _REPACKED:
            continue
        if not tensor.name.endswith("token_embd.weight"):
            yield tensor
        elif tied and tensor.name == "token_embd.weight":
            yield replace(tensor, name="output.weight")
