"""The settings of the engines: which engine answers, how vLLM works, and which devices are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.settings.values.declared import setting


@dataclass(frozen=True, init=False, repr=False, eq=False)
class EngineSettings:
    """The engine settings, a base class of `app.settings.values.fields.Settings`."""

    engine: Literal["auto", "llamacpp", "vllm"] = setting(
        "auto",
        "Engines",
        "Engine",
        "For models that both engines can run. Auto decides by speeds measured here, the number of "
        "chats at once and the context.",
        keywords="backend llama.cpp vllm",
        engine="vllm",
    )
    devices: str = setting(
        "",
        "Engines",
        "Devices for llama.cpp",
        "Their names from the list of devices, separated by commas. Empty uses all that work.",
        keywords="gpu cuda vulkan card",
    )
    experts_in_ram: int = setting(
        -1,
        "Engines",
        "Layers with experts in RAM",
        "For a mixture of experts that is too large for the graphics card.",
        keywords="moe gpu offload memory",
        lowest_label="Automatic",
        ge=-1,
        le=10000,
    )
    answers_at_once: int = setting(
        0,
        "Engines",
        "Answers at once with llama.cpp",
        "Each needs memory for its own context. Automatic allows as many as need little memory.",
        keywords="parallel concurrent slots",
        lowest_label="Automatic",
        ge=0,
        le=64,
    )
    vllm_parallel: int = setting(
        4,
        "Engines",
        "Answers at once with vLLM",
        "They share the memory for contexts.",
        keywords="parallel concurrent",
        ge=1,
        le=256,
        engine="vllm",
    )
    vllm_memory: int = setting(
        0,
        "Engines",
        "Graphics memory for vLLM",
        "Share of the card’s memory. Automatic takes what the model and its chats need.",
        keywords="gpu vram",
        unit="%",
        lowest_label="Automatic",
        ge=0,
        le=98,
        engine="vllm",
    )
    vllm_offload: int = setting(
        0,
        "Engines",
        "Weights of vLLM in RAM",
        "On each card, for a model larger than the card. These weights are copied to it for each "
        "token, so answers are much slower.",
        keywords="cpu offload memory",
        unit="GB",
        lowest_label="None",
        ge=0,
        le=1000,
        engine="vllm",
    )
    vllm_batch: int = setting(
        0,
        "Engines",
        "Tokens that vLLM reads at once",
        "For long prompts (chunked prefill). More tokens are read faster, but take graphics memory "
        "and delay other answers.",
        keywords="batch prefill prompt",
        unit="tokens",
        lowest_label="Automatic",
        ge=0,
        le=65536,
        engine="vllm",
    )
    vllm_prefix_cache: bool = setting(
        True,
        "Engines",
        "Prefix cache of vLLM",
        "Chats continue without being read again, as long as memory is free. Without it, nobody "
        "can tell from the speed what others have asked.",
        keywords="cache prompt privacy",
        engine="vllm",
    )
    vllm_pictures: bool = setting(
        False,
        "Engines",
        "Pictures in vLLM",
        "Lets models that can see use pictures in vLLM. This takes more graphics memory and a "
        "longer start.",
        keywords="vision image multimodal",
        engine="vllm",
    )
    vllm_sounds: bool = setting(
        False,
        "Engines",
        "Sounds in vLLM",
        "Lets models that can hear use sounds in vLLM. This takes more graphics memory and a "
        "longer start.",
        keywords="audio hearing speech multimodal",
        engine="vllm",
    )
    vllm_cards: int = setting(
        1,
        "Engines",
        "Cards that share each layer",
        "Splits the model across several equal cards (tensor parallel).",
        keywords="gpu multi tensor parallel",
        ge=1,
        le=64,
        engine="vllm",
    )
    vllm_nodes: int = setting(
        1,
        "Engines",
        "Computers that share the layers",
        "Uses Ray, which must run on each of them; 1 means this computer alone.",
        keywords="cluster ray pipeline",
        ge=1,
        le=64,
        engine="vllm",
    )
    vllm_depth: int = setting(
        0,
        "Engines",
        "Tokens drafted ahead by vLLM",
        "With MTP. Automatic uses what the model’s makers recommend. A change restarts vLLM.",
        keywords="mtp speculative draft",
        unit="tokens",
        lowest_label="Automatic",
        ge=0,
        le=8,
        engine="vllm",
    )
    vllm_adapters: str = setting(
        "",
        "Engines",
        "LoRA adapters",
        "One per line: a name, an equals sign and the adapter’s folder for vLLM, or its GGUF file "
        "for llama.cpp. They take memory; the first one restarts vLLM, and a change loads a model "
        "in llama.cpp again.",
        keywords="fine-tune lora peft",
        multiline=True,
    )
    adapter: str = setting(
        "",
        "Engines",
        "LoRA adapter",
        "The name of one of the adapters, or empty for none. Can differ per chat and assistant.",
        keywords="fine-tune lora peft",
    )
    vllm_idle: int = setting(
        30,
        "Engines",
        "Stop vLLM when idle",
        "After this time without an answer, to free its memory. vLLM also stays this long after a "
        "command in a terminal; with Never, it ends with the command.",
        keywords="unload sleep memory",
        unit="min",
        lowest_label="Never",
        ge=0,
        le=10000,
        engine="vllm",
    )
