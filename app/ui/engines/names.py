"""What the engines are called where they are shown."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from engines.types import EngineName

ENGINES = {"llamacpp": "llama.cpp", "vllm": "vLLM"}
"""By the names that engines have for themselves; those of other servers are their own."""


def engine_called(engine: EngineName) -> str:
    return ENGINES.get(engine) or QCoreApplication.translate("engines", "Another server")
