"""The options of a load, as the user set them; `planner` makes a plan of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engines.types import Adapter, KvType

DEFAULT_CONTEXT: Final = 8192


@dataclass(frozen=True)
class LoadOptions:
    """The user's options; None leaves it to the plan. context in tokens.

    mtp: whether to make room for drafting tokens ahead. kept_bytes: most memory for conversations
    other than the present one. anyway: load it even if it does not seem to fit.
    devices: names of devices as llama.cpp gives them; none is those that it would use.
    experts_in_ram: first layers whose experts stay in the computer's own memory.
    parallel: answers at once; None where the plan may choose. memory_share, cards, nodes, adapters:
    as in `LoadPlan`, for engines that have them.
    offload_bytes, batched, prefix_cache, pictures, sounds: likewise; None for `batched` is the
    engine's own number.
    depth: tokens drafted ahead, where that is settled before the start. lookup: the text itself
    may draft where nothing else can, likewise.
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
