"""Makes the plan that vLLM carries out from a checkpoint, a computer and load options: pure.

plan = plan_checkpoint(checkpoint, drafter, load_options, room)
require_memory(checkpoint, drafter, plan, room)

The need is the safetensors' bytes, those of the drafter, the KV cache of both, and what the engine
takes beside them: a planning figure, which nothing of a card was measured for yet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from engines.errors import Action, ContextTooLarge, NotEnoughMemory
from engines.hardware import Gpu, Hardware
from engines.memory.load_options import DEFAULT_CONTEXT, LoadOptions
from engines.memory.planner import LEAST_CONTEXT
from engines.models.checkpoint import Checkpoint
from engines.text import amount
from engines.types import MAX_DEPTH, LoadPlan

BESIDE_CARD: Final = 2_000_000_000
"""CUDA's context, activations and graphs: 1.5 to 2.5 GB are said of it."""

BESIDE_RAM: Final = 3_000_000_000
"""The four processes of the processor's build took 2.7 to 2.9 GiB around a tiny model."""

USUAL_DEPTH: Final = 2
LOOKUP_DEPTH: Final = 4
"""Guesses that cost nothing to make may be more; where text is copied, nearly all of them hold."""
_STEP: Final = 256
_OLDEST: Final = (7, 5)
_BFLOAT: Final = (8, 0)
"""The least compute capability that vLLM runs on, and from which cards have bfloat16."""

_SCREEN: Final = 1_500_000_000
"""Bytes that windows and a browser may take besides of the card that draws them."""


@dataclass(frozen=True)
class Room:
    """The memory for a model in vLLM. total, free: bytes of all its cards together, or of the RAM.

    cards: how many share each layer; 0 is the processor.
    """

    name: str
    total: int
    free: int
    cards: int = 0

    @property
    def beside(self) -> int:
        return BESIDE_CARD * self.cards or BESIDE_RAM

    def may_take(self, share: float | None) -> int:
        """Return the bytes that the engine may take. share: of the whole, as the user set it."""
        return self.free if share is None else min(self.free, int(share * self.total))


@dataclass(frozen=True)
class Need:
    """The memory that a checkpoint needs, in bytes. kv: of one conversation of the context."""

    weights: int
    drafter: int
    kv: int
    beside: int

    @property
    def total(self) -> int:
        return self.weights + self.drafter + self.kv + self.beside


def vllm_cards(hardware: Hardware) -> tuple[Gpu, ...]:
    """List the cards that vLLM can use, the best first.

    Those that compute in bfloat16 come before older ones, then counts free memory; the card that
    draws the screen needs some more of it later.
    """
    cards = [gpu for gpu in hardware.gpus if gpu.vendor == "nvidia" and not gpu.integrated]
    able = [gpu for gpu in cards if not gpu.hidden and (gpu.capability or _OLDEST) >= _OLDEST]

    def rank(gpu: Gpu) -> tuple[bool, int]:
        free = (gpu.free_bytes or 0) - (_SCREEN if gpu.shows else 0)
        return (gpu.capability or _BFLOAT) < _BFLOAT, -free

    return tuple(sorted(able, key=rank))


def room_for(hardware: Hardware, *, card: bool, cards: int = 1) -> Room:
    """Return the room on a computer. card: whether vLLM's build is for NVIDIA cards.

    cards: that share layers.
    """
    if not card:
        memory = hardware.memory
        total = memory.limit_bytes or memory.total_bytes
        return Room(hardware.cpu.name, total, memory.available_bytes)
    chosen = vllm_cards(hardware)[:cards]
    # The same part of each layer goes to every card, so the fullest one decides.
    free = min((gpu.free_bytes or 0 for gpu in chosen), default=0) * len(chosen)
    total = min((gpu.total_bytes or 0 for gpu in chosen), default=0) * len(chosen)
    return Room(chosen[0].name if chosen else "no NVIDIA card", total, free, max(1, len(chosen)))


def plan_checkpoint(
    checkpoint: Checkpoint,
    drafter: Checkpoint | None,
    load_options: LoadOptions,
    room: Room,
    advised: int | None = None,
) -> LoadPlan:
    """Plan a load; the context is as asked for, else the longest that fits, up to the usual.

    advised: tokens to draft ahead as the model's makers have it; a drafter may say itself for how
    many it was made. Raises ContextTooLarge.
    """
    most = checkpoint.context_max or DEFAULT_CONTEXT
    if load_options.context is not None and load_options.context > most:
        raise ContextTooLarge(
            f"A context of {load_options.context:,} tokens is too long for “{checkpoint.name}”.",
            f"It was trained for {most:,} tokens.",
            f"Set a context of {most:,} tokens or less.",
        )
    # A small model reads the whole text itself.
    reads = drafter.context_max if drafter is not None and drafter.drafting is None else 0
    if reads and load_options.context is not None and load_options.context > reads:
        drafter = None
    drafts = drafter is not None or checkpoint.mtp == "embedded"
    lookup = load_options.lookup and not drafts
    depth = (
        min(load_options.depth or _usual_depth(drafter, advised, lookup=lookup), MAX_DEPTH)
        if load_options.mtp and (drafts or lookup)
        else 0
    )
    if depth and drafter is not None and reads:
        most = min(most, reads)
    plan = LoadPlan(
        model=checkpoint.path,
        context=load_options.context or min(most, DEFAULT_CONTEXT),
        threads=load_options.threads or 0,
        batch_threads=load_options.threads or 0,
        gpu_layers=-1 if room.cards else 0,
        kv_type="f16" if load_options.kv_type == "f16" else "q8_0",
        drafter=drafter.path if drafter is not None else None,
        draft_max=depth,
        lookup=lookup,
        mtp_note=_mtp_note(drafts, load_options, reads),
        anyway=load_options.anyway,
        parallel=load_options.parallel,
        memory_share=load_options.memory_share,
        tensor_parallel=load_options.cards,
        nodes=load_options.nodes,
        adapters=load_options.adapters,
    )
    fitting = longest_context(checkpoint, drafter, plan, room)
    if load_options.context is None and fitting is not None and fitting < plan.context:
        return replace(plan, context=fitting)
    return plan


def need_of(checkpoint: Checkpoint, drafter: Checkpoint | None, plan: LoadPlan, room: Room) -> Need:
    kv = checkpoint.kv_bytes(plan.context, plan.kv_type)
    if drafter is None or plan.drafter is None or not plan.draft_max:
        return Need(checkpoint.weight_bytes, 0, kv, room.beside)
    if drafter.drafting is None or drafter.drafting.method != "mtp":
        kv += drafter.kv_bytes(plan.context, plan.kv_type)  # an assistant reads the model's own
    return Need(checkpoint.weight_bytes, drafter.weight_bytes, kv, room.beside)


def longest_context(
    checkpoint: Checkpoint, drafter: Checkpoint | None, plan: LoadPlan, room: Room
) -> int | None:
    """Return the longest context that fits, in steps; None where not even the least does."""
    most = checkpoint.context_max or DEFAULT_CONTEXT

    def fits(context: int) -> bool:
        need = need_of(checkpoint, drafter, replace(plan, context=context), room)
        return need.total <= room.may_take(plan.memory_share)

    if fits(most):
        return most
    low, high = 0, most // _STEP
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle * _STEP) else (low, middle - 1)
    return low * _STEP if low * _STEP >= min(LEAST_CONTEXT, most) else None


def require_memory(
    checkpoint: Checkpoint, drafter: Checkpoint | None, plan: LoadPlan, room: Room
) -> None:
    """Refuse a plan that does not fit, with the numbers and the context that would.

    Raises NotEnoughMemory.

    vLLM spreads over several computers at its own judgement, and is not judged there; a plan that
    is to be loaded anyway is not refused.
    """
    need, have = need_of(checkpoint, drafter, plan, room), room.may_take(plan.memory_share)
    if plan.anyway or plan.nodes > 1 or need.total <= have:
        return
    shorter = longest_context(checkpoint, drafter, plan, room)
    what = (
        f"There is not enough memory for “{checkpoint.name}” in vLLM: it needs "
        f"{amount(need.total)}, and {amount(have)} may be taken on {room.name}."
    )
    why = (
        f"Its weights take {amount(need.weights)}, the KV cache of {plan.context:,} tokens takes "
        f"{amount(need.kv)}, and computing takes {amount(need.drafter + need.beside)}."
    )
    if need.total <= room.free:
        raise NotEnoughMemory(
            what,
            f"{why} {amount(room.free)} are free, of which the settings allow that part only.",
            "Allow vLLM more of the memory, or all that is free by setting 0.",
            Action("open_settings", "vllm_memory"),
        )
    raise NotEnoughMemory(
        what,
        why,
        f"Set a context of {shorter:,} tokens, which fits, or close other programs."
        if shorter is not None
        else "Close other programs, take a checkpoint of fewer bits, or answer with llama.cpp.",
        Action("shorter_context", shorter) if shorter is not None else None,
    )


def _usual_depth(drafter: Checkpoint | None, advised: int | None, *, lookup: bool) -> int:
    """Return how far ahead is drafted where the user has not set it."""
    if lookup:
        return LOOKUP_DEPTH
    made_for = drafter.drafting.depth if drafter is not None and drafter.drafting else 0
    return made_for or advised or USUAL_DEPTH


def _mtp_note(drafts: bool, load_options: LoadOptions, reads: int) -> str:
    """Say why what was made for the model, or chosen, does not draft; "" without any.

    reads: tokens that a drafter can take in, if it is one that has to read all of them.
    """
    if drafts:
        off = "Guessing ahead is switched off; vLLM restarts to switch it on."
        return "" if load_options.mtp else off
    if reads:
        return (
            f"The drafter reads {reads:,} tokens at most; with the context that is set, it does not"
            " guess."
        )
    return ""
