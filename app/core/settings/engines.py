"""The settings of the engines: which one answers, how vLLM works, which devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.core.settings.declared import setting


@dataclass(frozen=True, init=False, repr=False, eq=False)
class EngineSettings:
    """Part of `app.core.settings.fields.Settings`, which is what the app makes and reads."""

    engine: Literal["auto", "llamacpp", "vllm"] = setting(
        "auto",
        "Engines",
        "Engine",
        "For a model that is here for both engines. Auto takes the one that suits this computer.",
    )
    devices: str = setting(
        "",
        "Engines",
        "Devices for llama.cpp",
        "By their names in the list of devices, separated by commas; empty uses all that work.",
    )
    experts_in_ram: int = setting(
        -1,
        "Engines",
        "Layers whose experts stay in RAM",
        "Of a mixture of experts, when it is too large for the graphics card; -1 chooses.",
        ge=-1,
        le=10_000,
    )
    vllm_parallel: int = setting(
        4,
        "Engines",
        "Chats at once with vLLM",
        "How many are answered at the same time; the memory for contexts is shared by them.",
        ge=1,
        le=256,
    )
    vllm_memory: int = setting(
        0,
        "Engines",
        "Card’s memory for vLLM",
        "In percent of the whole; 0 takes what is free when it starts.",
        ge=0,
        le=98,
    )
    vllm_cards: int = setting(
        1,
        "Engines",
        "Cards that share each layer",
        "Tensor parallel: the model is cut over so many equal cards.",
        ge=1,
        le=64,
    )
    vllm_nodes: int = setting(
        1,
        "Engines",
        "Computers that share the layers",
        "Over Ray, which has to run on each of them; 1 is this computer alone.",
        ge=1,
        le=64,
    )
    vllm_depth: int = setting(
        0,
        "Engines",
        "Tokens drafted ahead by vLLM",
        "With MTP; 0 takes what the model’s makers advise. A change starts the worker again.",
        ge=0,
        le=8,
    )
    vllm_adapters: str = setting(
        "",
        "Engines",
        "LoRA adapters for vLLM",
        "One a line: a name, an equals sign, and the adapter’s folder.",
        multiline=True,
    )
    adapter: str = setting(
        "",
        "Engines",
        "LoRA adapter",
        "One of the adapters for vLLM, by its name; empty is the model by itself. Each chat and "
        "each assistant can differ.",
    )
    vllm_idle: int = setting(
        30,
        "Engines",
        "Stop vLLM when idle",
        "After so many minutes without an answer, to give its memory back; 0 lets it run.",
        ge=0,
        le=10_000,
    )
