"""Which LoRA adapter an answer is written with: the one that is asked for, or none. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engines.errors import Action, AdapterUnknown
from engines.types import Adapter, ChatRequest


def adapter_of(request: ChatRequest, adapters: Sequence[Adapter]) -> str | None:
    """Its name, one of those that were loaded with the model. Raises AdapterUnknown."""
    name = request.adapter
    if name is None or any(it.name == name for it in adapters):
        return name
    known = ", ".join(f"“{it.name}”" for it in adapters)
    raise AdapterUnknown(
        f"The adapter “{name}” cannot be used.",
        f"Loaded with this model are: {known}." if known else "None was loaded with this model.",
        "Choose one of those, or name its folder in the settings, under Engines.",
        Action("open_settings", "vllm_adapters"),
    )


def refuse_adapter(request: ChatRequest, why: str, do: str) -> None:
    """For an engine that has none. Raises AdapterUnknown where one is asked for."""
    if request.adapter is not None:
        raise AdapterUnknown(f"The adapter “{request.adapter}” cannot be used.", why, do)
