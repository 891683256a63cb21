"""What the engines on this computer are called, wherever they are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engines.types import EngineName

PROPER_NAMES: Final[dict[EngineName, str]] = {"llamacpp": "llama.cpp", "vllm": "vLLM"}
"""By the names in code and settings. Other servers are none of them: they go by their own names."""


def proper_name(engine: str) -> str:
    """Whatever is no engine of this computer keeps the name that it has."""
    if engine in PROPER_NAMES:
        return PROPER_NAMES[engine]
    return engine
