"""Refuses a load that the system would end by ending the whole app."""

from __future__ import annotations

from pathlib import Path

from engines.errors import NotEnoughMemory
from engines.fit import amount, split_needed
from engines.gguf_header import GgufHeader
from engines.hardware.memory import measure_memory, within_limits
from engines.types import LoadPlan


def require_memory(header: GgufHeader, plan: LoadPlan) -> None:
    """Raises NotEnoughMemory if what must stay in the computer's memory exceeds what is free.

    Linux promises more memory than it has: llama.cpp gets its KV cache, and is killed when it
    clears it. Weights that are mapped from the file can leave memory again and do not count here;
    whether a plan is a good one is for `engines.planner.check` to say.
    """
    ram = split_needed(header, plan.context, plan.kv_type, plan.batch, plan.gpu_layers).ram
    need = ram.kv + ram.compute + (0 if plan.mmap else ram.weights)
    have = within_limits(measure_memory(), Path("/")).available_bytes
    if need > have:
        raise NotEnoughMemory(
            f"There is not enough memory for “{plan.model.name}” with a context of"
            f" {plan.context:,} tokens.",
            f"It needs {amount(need)}, most of it for the KV cache, and {amount(have)} are free."
            if ram.kv > need // 2
            else f"It needs {amount(need)}, and {amount(have)} are free.",
            "Set a smaller context, or close other programs.",
        )
