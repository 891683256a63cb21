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
        "For a model that both engines have. Auto goes by speeds measured here, chats at once and "
        "the context.",
        also="backend llama.cpp vllm",
    )
    devices: str = setting(
        "",
        "Engines",
        "Devices for llama.cpp",
        "Their names from the list of devices, separated by commas. Empty uses all that work.",
        also="gpu cuda vulkan card",
    )
    experts_in_ram: int = setting(
        -1,
        "Engines",
        "Layers with experts in RAM",
        "For a mixture of experts that is too large for the graphics card.",
        also="moe gpu offload memory",
        lowest="Automatic",
        ge=-1,
        le=10000,
    )
    answers_at_once: int = setting(
        0,
        "Engines",
        "Answers at once with llama.cpp",
        "Each takes memory for a context of its own. Automatic is as many as take little.",
        also="parallel concurrent slots",
        lowest="Automatic",
        ge=0,
        le=64,
    )
    vllm_parallel: int = setting(
        4,
        "Engines",
        "Answers at once with vLLM",
        "They share the memory for contexts.",
        also="parallel concurrent",
        ge=1,
        le=256,
    )
    vllm_memory: int = setting(
        0,
        "Engines",
        "Graphics memory for vLLM",
        "Share of the card’s memory. Automatic takes what the model and its chats need.",
        also="gpu vram",
        unit="%",
        lowest="Automatic",
        ge=0,
        le=98,
    )
    vllm_offload: int = setting(
        0,
        "Engines",
        "Weights of vLLM in RAM",
        "On each card. For a model larger than the card; these weights cross to it for each token, "
        "so answers are much slower.",
        also="cpu offload memory",
        unit="GB",
        lowest="None",
        ge=0,
        le=1000,
    )
    vllm_batch: int = setting(
        0,
        "Engines",
        "Tokens that vLLM reads at once",
        "Of long prompts (chunked prefill). More reads faster, takes graphics memory, and holds up "
        "other answers.",
        also="batch prefill prompt",
        unit="tokens",
        lowest="Automatic",
        ge=0,
        le=65536,
    )
    vllm_prefix_cache: bool = setting(
        True,
        "Engines",
        "Prefix cache of vLLM",
        "Chats go on without being read again, from memory that is free. Without it, nobody can "
        "tell by the speed what others have asked.",
        also="cache prompt privacy",
    )
    vllm_pictures: bool = setting(
        False,
        "Engines",
        "Pictures in vLLM",
        "Lets models that see be shown pictures there. It takes more graphics memory, and a longer "
        "start.",
        also="vision image multimodal",
    )
    vllm_sounds: bool = setting(
        False,
        "Engines",
        "Sounds in vLLM",
        "Lets models that hear be played sounds there. It takes more graphics memory, and a longer "
        "start.",
        also="audio hearing speech multimodal",
    )
    vllm_cards: int = setting(
        1,
        "Engines",
        "Cards that share each layer",
        "Cuts the model over several equal cards (tensor parallel).",
        also="gpu multi tensor parallel",
        ge=1,
        le=64,
    )
    vllm_nodes: int = setting(
        1,
        "Engines",
        "Computers that share the layers",
        "Over Ray, which must run on each of them; 1 is only this computer.",
        also="cluster ray pipeline",
        ge=1,
        le=64,
    )
    vllm_depth: int = setting(
        0,
        "Engines",
        "Tokens drafted ahead by vLLM",
        "With MTP. Automatic uses what the model’s makers recommend. A change restarts vLLM.",
        also="mtp speculative draft",
        unit="tokens",
        lowest="Automatic",
        ge=0,
        le=8,
    )
    vllm_adapters: str = setting(
        "",
        "Engines",
        "LoRA adapters",
        "One per line: a name, an equals sign and the adapter’s folder for vLLM, or its GGUF file "
        "for llama.cpp. They take memory; the first one restarts vLLM, and a change loads a model "
        "in llama.cpp again.",
        also="fine-tune lora peft",
        multiline=True,
    )
    adapter: str = setting(
        "",
        "Engines",
        "LoRA adapter",
        "The name of one of the adapters, or empty for none. Can differ per chat and assistant.",
        also="fine-tune lora peft",
    )
    vllm_idle: int = setting(
        30,
        "Engines",
        "Stop vLLM when idle",
        "After this long without an answer, to free its memory. It stays as long after a command "
        "in a terminal; where this is Never, it ends with the command.",
        also="unload sleep memory",
        unit="min",
        lowest="Never",
        ge=0,
        le=10000,
    )
