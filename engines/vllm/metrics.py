"""Reads the figures of a running vLLM from the Prometheus text of GET /metrics. Pure."""

from __future__ import annotations

import re
from typing import Final

CACHE_USED: Final = "vllm:kv_cache_usage_perc"
"""The used share of the KV cache, 0 to 1."""

_NUMBER: Final = r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?"
_LINE: Final = re.compile(rf"^(vllm:[a-z_]+)(?:\{{[^}}\n]*\}})?[ \t]+({_NUMBER})$", re.MULTILINE)
"""Skips values that are not numbers, such as NaN."""


def read_metrics(text: str) -> dict[str, float]:
    """Return the figures by name; those of several engines are added up."""
    sums: dict[str, float] = {}
    for name, value in _LINE.findall(text):
        sums[name] = sums.get(name, 0.0) + float(value)
    return sums
