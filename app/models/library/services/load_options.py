"""Turns settings into load options, limited to what each engine can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import filterfalse
from pathlib import Path
from typing import Final

from app.settings.values.fields import Settings
from app.settings.values.named import is_gguf_file, parse_adapters
from engines.memory.load_options import LoadOptions
from engines.types import Adapter, EngineName, LoadPlan

_NOTHING = LoadPlan(Path(), 0, 0, 0, gpu_layers=-1, draft_max=0)
"""A plan without any option that only one engine has."""


def load_options_of(
    settings: Settings, engine: EngineName = "llamacpp", depth: int | None = None
) -> LoadOptions:
    """Return an engine's load options; settings without effect on it cause no new load.

    Args:
        depth: How many tokens to draft ahead, if set for this load only.

    Raises:
        SettingsInvalid: A setting cannot be used.
    """
    return _TAKEN[engine](settings, depth)


def _by_llamacpp(settings: Settings, _depth: int | None = None) -> LoadOptions:
    named = (name.strip() for name in settings.devices.split(","))
    return LoadOptions(
        context=settings.context or None,
        threads=settings.threads or None,
        gpu_layers=None if settings.gpu_layers < 0 else settings.gpu_layers,
        kv_type=settings.kv_type,
        kept_bytes=settings.kv_memory * 1_000_000,
        devices=tuple(name for name in named if name),
        experts_in_ram=None if settings.experts_in_ram < 0 else settings.experts_in_ram,
        parallel=settings.answers_at_once or None,
        adapters=tuple(filter(is_gguf_file, parse_adapters(settings.vllm_adapters))),
    )


def _by_vllm(settings: Settings, depth: int | None) -> LoadOptions:
    return LoadOptions(
        context=settings.context or None,
        kv_type=settings.kv_type,
        mtp=settings.mtp != "off",
        # vLLM cannot change this for a single answer. Auto must never slow answers down, so it
        # uses only drafting made for the model; lookup helps with copied text alone and needs "on".
        lookup=settings.mtp == "on",
        parallel=settings.vllm_parallel,
        memory_share=settings.vllm_memory / 100 or None,
        cards=settings.vllm_cards,
        nodes=settings.vllm_nodes,
        adapters=tuple(filterfalse(is_gguf_file, parse_adapters(settings.vllm_adapters))),
        offload_bytes=settings.vllm_offload * 1_000_000_000,
        batched=settings.vllm_batch or None,
        prefix_cache=settings.vllm_prefix_cache,
        pictures=settings.vllm_pictures,
        sounds=settings.vllm_sounds,
        depth=(depth or settings.vllm_depth or None) if settings.mtp != "off" else None,
    )


def _by_server(settings: Settings, _depth: int | None) -> LoadOptions:
    return LoadOptions(context=settings.context or None)


_TAKEN: Final[Mapping[EngineName, Callable[[Settings, int | None], LoadOptions]]] = {
    "llamacpp": _by_llamacpp,
    "vllm": _by_vllm,
    "remote": _by_server,
}


def unmet(settings: Settings, engine: EngineName) -> tuple[str, ...]:
    """List the settings for the other engine that have no effect here, one sentence each.

    Only settings that the user has changed count.
    """
    from engines.memory.equivalent import Target, equivalent

    if engine not in _OF_THE_OTHER:
        return ()
    other, asked = _OF_THE_OTHER[engine]
    return equivalent(asked(settings), other, Target(engine, Path())).notes


def _set_for_vllm(settings: Settings) -> LoadPlan:
    lines = filter(None, map(str.strip, settings.vllm_adapters.splitlines()))
    folders = filterfalse(is_gguf_file, (Adapter(line, Path(line)) for line in lines))
    return replace(
        _NOTHING,
        memory_share=settings.vllm_memory / 100 or None,
        tensor_parallel=settings.vllm_cards,
        nodes=settings.vllm_nodes,
        adapters=tuple(folders),
        offload_bytes=settings.vllm_offload * 1_000_000_000,
    )


def _set_for_llamacpp(settings: Settings) -> LoadPlan:
    own = _by_llamacpp(settings.changed("vllm_adapters", ""))
    return replace(
        _NOTHING,
        threads=own.threads or 0,
        gpu_layers=-1 if own.gpu_layers is None else own.gpu_layers,
        experts_in_ram=own.experts_in_ram or 0,
        devices=own.devices,
    )


_OF_THE_OTHER: Final[Mapping[EngineName, tuple[EngineName, Callable[[Settings], LoadPlan]]]] = {
    "llamacpp": ("vllm", _set_for_vllm),
    "vllm": ("llamacpp", _set_for_llamacpp),
}
