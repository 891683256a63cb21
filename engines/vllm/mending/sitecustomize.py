"""Mends vLLM's build for processors; Python finds it by its name in each process of a worker.

With MTP, 0.32 expands temperature, top-k and top-p to one value for each drafted token. The
stand-in for that kernel turns its output into another type first, writes into the copy, and so all
answers but greedy ones are drawn with whatever was in memory, or end the worker. Here the numbers
are written where they belong. This runs in vLLM's Python: nothing of Hearth can be imported.
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
    """Write each request's value once for each of its tokens into `output`. ends: of their runs."""
    counts = ends.diff(prepend=ends.new_zeros(1))
    each = values.masked_fill(values == replace_from, replace_to)
    output.copy_(each.repeat_interleave(counts))


class Mender:
    """An import hook that changes the module once it is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the module's spec, as Python's protocol for finders has it."""
        if name != _MODULE:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def mended(module: ModuleType) -> None:
                load(module)
                if hasattr(module, _KERNEL):
                    setattr(module, _KERNEL, expand)

            spec.loader.exec_module = mended  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, Mender())
