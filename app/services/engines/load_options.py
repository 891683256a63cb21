"""From the settings to what the user wants of a load, of each engine only what it can do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.core.errors import SettingsInvalid
from app.core.home import from_home
from app.core.settings.fields import Settings
from engines.memory.load_options import LoadOptions
from engines.types import Adapter, EngineName, LoadPlan

_MODEL = "model"
"""What vLLM's worker calls the model by itself."""

_NOTHING = LoadPlan(Path(), 0, 0, 0, gpu_layers=-1, draft_max=0)
"""A plan that asks for nothing that only one engine has."""


def load_options_of(
    settings: Settings, engine: EngineName = "llamacpp", depth: int | None = None
) -> LoadOptions:
    """What else is set makes no difference, so that no model is loaded anew for it.

    depth: tokens to draft ahead, where they are asked for once. Raises SettingsInvalid.
    """
    context = settings.context or None
    if engine == "remote":
        return LoadOptions(context=context)
    if engine == "vllm":
        return LoadOptions(
            context=context,
            kv_type=settings.kv_type,
            mtp=settings.mtp != "off",
            parallel=settings.vllm_parallel,
            memory_share=settings.vllm_memory / 100 or None,
            cards=settings.vllm_cards,
            nodes=settings.vllm_nodes,
            adapters=adapters_named(settings.vllm_adapters),
            depth=(depth or settings.vllm_depth or None) if settings.mtp != "off" else None,
        )
    named = (name.strip() for name in settings.devices.split(","))
    return LoadOptions(
        context=context,
        threads=settings.threads or None,
        gpu_layers=None if settings.gpu_layers < 0 else settings.gpu_layers,
        kv_type=settings.kv_type,
        kept_bytes=settings.kv_memory * 1_000_000,
        devices=tuple(name for name in named if name),
        experts_in_ram=None if settings.experts_in_ram < 0 else settings.experts_in_ram,
    )


def unmet(settings: Settings, engine: EngineName) -> tuple[str, ...]:
    """What is set for another engine and cannot be here, one sentence each.

    Only what somebody has set: a usual value is no wish.
    """
    from engines.memory.equivalent import Target, equivalent

    usual = Settings()
    if engine == "llamacpp":
        lines = filter(None, map(str.strip, settings.vllm_adapters.splitlines()))
        chats = settings.vllm_parallel
        asked = replace(
            _NOTHING,
            parallel=1 if chats == usual.vllm_parallel else chats,
            memory_share=settings.vllm_memory / 100 or None,
            tensor_parallel=settings.vllm_cards,
            nodes=settings.vllm_nodes,
            adapters=tuple(Adapter(line, Path(line)) for line in lines),
        )
        return equivalent(asked, "vllm", Target("llamacpp", Path())).notes
    if engine == "vllm":
        own = load_options_of(settings)
        asked = replace(
            _NOTHING,
            threads=own.threads or 0,
            gpu_layers=-1 if own.gpu_layers is None else own.gpu_layers,
            experts_in_ram=own.experts_in_ram or 0,
            devices=own.devices,
        )
        return equivalent(asked, "llamacpp", Target("vllm", Path())).notes
    return ()


def adapters_named(text: str) -> tuple[Adapter, ...]:
    """The adapters of the setting `vllm_adapters`: one a line. Raises SettingsInvalid."""
    found: dict[str, Adapter] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, folder = (part.strip() for part in line.partition("="))
        if not (name and equals and folder) or name in found or name == _MODEL:
            raise SettingsInvalid(
                f"“{line}” names no LoRA adapter.",
                "A line has a name of its own, an equals sign, and the folder of the adapter.",
                "Mend it in the settings, under Engines.",
            )
        found[name] = Adapter(name, from_home(folder).absolute())
    return tuple(found.values())
