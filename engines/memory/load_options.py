"""The options of a load as the user set them, from which `planner` makes a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engines.types import Adapter, KvType

DEFAULT_CONTEXT: Final = 8192


@dataclass(frozen=True)
class LoadOptions:
    """The user's options; None leaves a choice to the plan.

    Attributes:
        context: Context in tokens.
        mtp: Reserve memory for drafting.
        kept_bytes: Most memory for conversations other than the present one.
        anyway: Load the model even if it does not seem to fit.
        devices: llama.cpp's names of the devices to use; empty for its own choice.
        experts_in_ram: Number of first layers whose experts stay in the main memory.
        parallel: Number of simultaneous answers.
        memory_share: As in `LoadPlan`, for engines that support it.
        cards: Number of cards that share each layer; see `LoadPlan.tensor_parallel`.
        nodes: As in `LoadPlan`, for engines that support it.
        adapters: As in `LoadPlan`, for engines that support it.
        offload_bytes: As in `LoadPlan`, for engines that support it.
        batched: As in `LoadPlan`; None for the engine's own number.
        prefix_cache: As in `LoadPlan`, for engines that support it.
        pictures: As in `LoadPlan`, for engines that support it.
        sounds: As in `LoadPlan`, for engines that support it.
        depth: Tokens drafted ahead, for engines that fix the number at the start.
        lookup: Allow prompt lookup if nothing else can draft, for the same engines.
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
    memory_share: float | None = None
    cards: int = 1
    nodes: int = 1
    adapters: tuple[Adapter, ...] = ()
    offload_bytes: int = 0
    batched: int | None = None
    prefix_cache: bool = True
    pictures: bool = False
    sounds: bool = False
    depth: int | None = None
    lookup: bool = False
