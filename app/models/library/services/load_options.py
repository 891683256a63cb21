"""Turns settings into load options, limited to what each engine can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import filterfalse
from pathlib import Path
from typing import Final

from app.settings.values.fields import Settings
from app.settings.values.named import is_gguf_file, parse_adapters
from engines.memory.load_options import LoadOptions
from engines.sentences import N_
from engines.types import Adapter, EngineName, VllmOptions


def load_options_of(
    settings: Settings, engine: EngineName = "llamacpp", depth: int | None = None
) -> LoadOptions:
    """Return an engine's load options; settings without effect on it cause no new load.

    Args:
        depth: How many tokens to draft ahead, if set for this load only.

    Raises:
        SettingsInvalid: A setting cannot be used.
    """
    return _BY_ENGINE[engine](settings, depth)


def _by_llamacpp(settings: Settings, _depth: int | None = None) -> LoadOptions:
    return LoadOptions(
        context=settings.context or None,
        threads=settings.threads or None,
        gpu_layers=None if settings.gpu_layers < 0 else settings.gpu_layers,
        kv_type=settings.kv_type,
        kept_bytes=settings.kv_memory * 1_000_000,
        devices=_devices(settings),
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
        adapters=tuple(filterfalse(is_gguf_file, parse_adapters(settings.vllm_adapters))),
        depth=(depth or settings.vllm_depth or None) if settings.mtp != "off" else None,
        vllm=VllmOptions(
            memory_share=settings.vllm_memory / 100 or None,
            cards=settings.vllm_cards,
            nodes=settings.vllm_nodes,
            offload_bytes=settings.vllm_offload * 1_000_000_000,
            batched=settings.vllm_batch or None,
            prefix_cache=settings.vllm_prefix_cache,
            pictures=settings.vllm_pictures,
            sounds=settings.vllm_sounds,
        ),
    )


def _by_server(settings: Settings, _depth: int | None) -> LoadOptions:
    return LoadOptions(context=settings.context or None)


_BY_ENGINE: Final[Mapping[EngineName, Callable[[Settings, int | None], LoadOptions]]] = {
    "llamacpp": _by_llamacpp,
    "vllm": _by_vllm,
    "remote": _by_server,
}


def unmet(settings: Settings, engine: EngineName) -> tuple[str, ...]:
    """List the settings for the other engine that have no effect here, one sentence each.

    Only settings that the user has changed count.
    """
    return tuple(sentence for is_set, sentence in _UNMET.get(engine, ()) if is_set(settings))


def _devices(settings: Settings) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, settings.devices.split(","))))


def _names_folders(settings: Settings) -> bool:
    lines = filter(None, map(str.strip, settings.vllm_adapters.splitlines()))
    return any(not is_gguf_file(Adapter(line, Path(line))) for line in lines)


_UNMET: Final[Mapping[EngineName, tuple[tuple[Callable[[Settings], bool], str], ...]]] = {
    "llamacpp": (
        (
            lambda it: it.vllm_memory > 0,
            N_("llama.cpp takes the memory that the model needs, and no share of the card."),
        ),
        (
            lambda it: it.vllm_cards > 1,
            N_("llama.cpp gives whole layers to each card, one card after the other works."),
        ),
        (lambda it: it.vllm_nodes > 1, N_("llama.cpp uses this computer only.")),
        (
            lambda it: it.vllm_offload > 0,
            N_("llama.cpp leaves whole layers in RAM by itself, and computes them there."),
        ),
        (
            _names_folders,
            N_("vLLM’s LoRA adapters are folders; llama.cpp uses those in GGUF files."),
        ),
    ),
    "vllm": (
        (
            lambda it: it.threads > 0,
            N_("A number of threads has no meaning in vLLM, which chooses its own."),
        ),
        (
            lambda it: it.gpu_layers >= 0,
            N_("vLLM puts all layers on the card; it cannot leave some on the processor."),
        ),
        (
            lambda it: it.experts_in_ram > 0,
            N_("vLLM keeps the experts of a mixture with their layers, on the card."),
        ),
        (
            lambda it: len(_devices(it)) > 1,
            N_("Several cards share each layer in vLLM (tensor parallel)."),
        ),
    ),
}
"""For each engine, the settings of the other one, and the sentence on each that has no effect."""
