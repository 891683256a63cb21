"""The choice of the LoRA adapter, if any, that an answer is written with; pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from engines.errors import Action, AdapterUnknown
from engines.sentences import N_
from engines.types import Adapter, ChatRequest


def adapter_of(request: ChatRequest, adapters: Sequence[Adapter]) -> str | None:
    """Return the name of the request's adapter, which must be among those loaded with the model.

    Returns:
        None for the model alone.

    Raises:
        AdapterUnknown: No adapter of that name is loaded.
    """
    name = request.adapter
    if name is None or any(adapter.name == name for adapter in adapters):
        return name
    names = ", ".join(f"“{adapter.name}”" for adapter in adapters)
    raise AdapterUnknown(
        N_("The adapter “{adapter}” cannot be used.", adapter=name),
        N_("Loaded with this model: {known}.", known=names)
        if names
        else N_("None was loaded with this model."),
        N_("Choose one of those, or name it in the settings, under Engines."),
        Action("open_settings", "vllm_adapters"),
    )


def refuse_adapter(request: ChatRequest, why: str, do: str) -> None:
    """Refuse a request that names an adapter, for engines that have none.

    Raises:
        AdapterUnknown: The request names one.
    """
    if request.adapter is not None:
        raise AdapterUnknown(
            N_("The adapter “{adapter}” cannot be used.", adapter=request.adapter), why, do
        )
