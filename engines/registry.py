"""Which engines there are, and whether they can run on this computer."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Final

_LATER: Final = "This version of Hearth does not have it yet."
_MISSING: Final = "Its library is not installed; start Hearth with run.py, which installs it."


@dataclass(frozen=True)
class EngineStatus:
    """why_not: one sentence, None if the engine is available."""

    name: str
    available: bool
    why_not: str | None = None


def statuses() -> tuple[EngineStatus, ...]:
    """All engines. Loads no library: whether an installed one loads shows when it is used."""
    installed = importlib.util.find_spec("llama_cpp") is not None
    return (
        EngineStatus("llamacpp", installed, None if installed else _MISSING),
        EngineStatus("vllm", available=False, why_not=_LATER),
        EngineStatus("remote", available=False, why_not=_LATER),
    )
