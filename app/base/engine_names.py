"""The names of the engines as people know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engines.types import EngineName

PROPER_NAMES: Final[dict[EngineName, str]] = {"llamacpp": "llama.cpp", "vllm": "vLLM"}
"""The names by engine, as code and settings spell it. Other servers go by their own names."""


def proper_name(engine: str) -> str:
    """Return an engine's proper name; any other name is returned as it is."""
    if engine in PROPER_NAMES:
        return PROPER_NAMES[engine]
    return engine
