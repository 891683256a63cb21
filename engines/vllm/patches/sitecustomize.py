"""Fixes vLLM's CPU build; Python imports this module by its name in each process of a worker.

With MTP, vLLM 0.32 expands temperature, top-k and top-p to one value for each drafted token. The
CPU replacement for that kernel first converts its output to another type and then writes into the
copy. All answers except greedy ones are therefore sampled with whatever was in memory, or the
worker crashes. The version here writes the numbers into the output itself. It runs in vLLM's
Python, so it cannot import anything from Hearth.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_MODULE = "vllm.utils.cpu_triton_utils"
_KERNEL = "_expand_kernel_impl"


def expand(
    output: Any,
    values: Any,
    ends: Any,
    replace_from: int,
    replace_to: int,
    MAX_NUM_TOKENS: int | None = None,  # noqa: N803, ARG001  the kernel's own name
) -> None:
    """Write each request's value into `output`, once for each of its tokens.

    Args:
        ends: End index of each request's tokens.
        replace_from: Value to replace.
        replace_to: Value to write instead.
    """
    counts = ends.diff(prepend=ends.new_zeros(1))
    each = values.masked_fill(values == replace_from, replace_to)
    output.copy_(each.repeat_interleave(counts))


class KernelPatcher:
    """An import hook that replaces the kernel once its module is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module's spec, as Python's finder protocol requires."""
        if name != _MODULE:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_patch(module: ModuleType) -> None:
                load(module)
                if hasattr(module, _KERNEL):
                    setattr(module, _KERNEL, expand)

            spec.loader.exec_module = load_and_patch  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, KernelPatcher())
