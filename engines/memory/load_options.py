"""The options of a load as the user set them, from which `planner` makes a plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from engines.types import Adapter, KvType, VllmOptions

DEFAULT_CONTEXT: Final = 8192


@dataclass(frozen=True)
class LoadOptions:
    """The user's options; None leaves a choice to the plan.

    An engine ignores the options that it does not have.

    Attributes:
        context: Context in tokens.
        mtp: Reserve memory for drafting.
        kept_bytes: Most memory for conversations other than the present one.
        anyway: Load the model even if it does not seem to fit.
        devices: llama.cpp's names of the devices to use; empty for its own choice.
        experts_in_ram: Number of first layers whose experts stay in the main memory.
        parallel: Number of simultaneous answers.
        adapters: LoRA adapters that requests can choose by name.
        depth: Tokens drafted ahead, for engines that fix the number at the start.
        lookup: Allow prompt lookup if nothing else can draft, for the same engines.
        vllm: The options that only vLLM has.
    """

    context: int | None = None
    threads: int | None = None
    gpu_layers: int | None = None
    kv_type: KvType = "f16"
    mtp: bool = True
    kept_bytes: int = 512 << 20
    anyway: bool = False
    devices: tuple[str, ...] = ()
    experts_in_ram: int | None = None
    parallel: int | None = 1
    adapters: tuple[Adapter, ...] = ()
    depth: int | None = None
    lookup: bool = False
    vllm: VllmOptions = field(default_factory=VllmOptions)
