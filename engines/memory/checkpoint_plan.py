"""Makes vLLM's load plan from a checkpoint, a computer and load options. Pure.

plan = plan_checkpoint(checkpoint, drafter, load_options, room)
require_memory(checkpoint, drafter, plan, room)

The need consists of the bytes of the safetensors, those of the drafter, the KV cache of both, and
the engine's own memory, a planning figure that has not been measured on a card yet. A load needs
room for one chat with the whole context. It takes as much as all simultaneous chats need, if there
is room, and leaves the rest of the card to other programs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from engines.errors import Action, ContextTooLarge, NotEnoughMemory
from engines.hardware import Gpu, Hardware
from engines.memory.load_options import DEFAULT_CONTEXT, LoadOptions
from engines.memory.planner import LEAST_CONTEXT
from engines.models.checkpoint import IN_FLIGHT, Checkpoint
from engines.sentences import N_
from engines.text import amount
from engines.types import MAX_DEPTH, VllmOptions, VllmPlan

CARD_OVERHEAD: Final = 2_000_000_000
"""CUDA's context, activations and graphs, for which 1.5 to 2.5 GB are reported."""

RAM_OVERHEAD: Final = 3_000_000_000
"""The four processes of the CPU build took 2.7 to 2.9 GiB around a tiny model."""

USUAL_DEPTH: Final = 2
LOOKUP_DEPTH: Final = 4
"""Higher, because prompt lookup costs nothing, and nearly all its drafts hold in copied text."""
_LEAST_BATCH: Final = 512
_STEP: Final = 256
_OLDEST: Final = (7, 5)
_BFLOAT: Final = (8, 0)
"""Lowest compute capability that vLLM runs on, and the lowest with bfloat16."""

_RESERVED: Final = 700_000_000
"""Bytes of a card that stay free for other programs, which take some more while vLLM runs."""

_SCREEN_RESERVED: Final = 1_500_000_000
"""Bytes that stay free on the card that draws windows and a browser."""

MOST_SHARE: Final = 0.92
"""Share of a card that vLLM takes by default; the rest is for needs that it cannot foresee."""

_SPARE_SHARE: Final = 1 / 16
"""Share of its KV cache that an automatic context leaves free, as less can be free at the start."""

_GIB: Final = 1 << 30


@dataclass(frozen=True)
class Room:
    """The memory for a model in vLLM.

    Attributes:
        name: Name of the card or the processor.
        total: Bytes of all its cards together, or of the RAM.
        free: Free bytes of the same.
        cards: Number of cards that share each layer; 0 for the processor.
        reserved: Part of the free bytes that is left to other programs.
        in_flight: Tokens that vLLM processes at once.
        ram: Free bytes of RAM, beside the cards.
    """

    name: str
    total: int
    free: int
    cards: int = 0
    reserved: int = 0
    in_flight: int = IN_FLIGHT
    ram: int = 0

    @property
    def overhead(self) -> int:
        """The engine's own memory, in bytes."""
        return CARD_OVERHEAD * self.cards or RAM_OVERHEAD

    def usable_bytes(self, share: float | None) -> int:
        """Return the bytes that the engine can take; `share` of the total is the user's setting."""
        if share is not None:
            return min(self.free, int(share * self.total))
        if not self.cards:
            return self.free
        return max(0, min(self.free - self.reserved, int(MOST_SHARE * self.total)))


@dataclass(frozen=True)
class Need:
    """The memory that a checkpoint needs or takes, in bytes.

    Attributes:
        kv: KV cache of one or several chats.
        overhead: The engine's own memory.
        ram: Weights that stay in RAM, in addition to all others.
    """

    weights: int
    drafter: int
    kv: int
    overhead: int
    ram: int = 0

    @property
    def total(self) -> int:
        """All of the need except the weights in RAM, in bytes."""
        return self.weights + self.drafter + self.kv + self.overhead


def vllm_cards(hardware: Hardware) -> tuple[Gpu, ...]:
    """List the cards that vLLM can use, best first.

    Cards with bfloat16 come before older ones, then free memory counts; the card that draws the
    screen counts as less free, because it will need more later.
    """
    cards = [gpu for gpu in hardware.gpus if gpu.vendor == "nvidia" and not gpu.integrated]
    able = [gpu for gpu in cards if not gpu.hidden and (gpu.capability or _OLDEST) >= _OLDEST]

    def rank(gpu: Gpu) -> tuple[bool, int]:
        free = (gpu.free_bytes or 0) - (_SCREEN_RESERVED if gpu.shows else 0)
        return (gpu.capability or _BFLOAT) < _BFLOAT, -free

    return tuple(sorted(able, key=rank))


def reserved_bytes(card: Gpu) -> int:
    """Return the bytes of a card that vLLM leaves to other programs."""
    return _SCREEN_RESERVED if card.shows else _RESERVED


def _in_flight(card: Gpu) -> int:
    """Return the tokens that vLLM processes at once on a card. Source: that of `IN_FLIGHT`."""
    total = card.total_bytes or 0
    if total >= 160 * _GIB:
        return 8 * IN_FLIGHT
    slower = "a100" in card.name.lower() or card.capability == (12, 1)
    return 4 * IN_FLIGHT if total >= 70 * _GIB and not slower else IN_FLIGHT


def room_for(hardware: Hardware, *, card: bool, cards: int = 1) -> Room:
    """Return the room on a computer.

    Args:
        card: vLLM's build is the one for NVIDIA cards.
        cards: Number of cards that share the layers.
    """
    if not card:
        memory = hardware.memory
        total = memory.limit_bytes or memory.total_bytes
        return Room(hardware.cpu.name, total, memory.available_bytes)
    chosen = vllm_cards(hardware)[:cards]
    # Every card gets the same part of each layer, so the fullest card decides.
    free = min((gpu.free_bytes or 0 for gpu in chosen), default=0) * len(chosen)
    total = min((gpu.total_bytes or 0 for gpu in chosen), default=0) * len(chosen)
    reserved = max(map(reserved_bytes, chosen), default=0) * len(chosen)
    in_flight = max(map(_in_flight, chosen), default=IN_FLIGHT)
    name = chosen[0].name if chosen else N_("no NVIDIA card")
    ram = hardware.memory.available_bytes
    return Room(name, total, free, max(1, len(chosen)), reserved, in_flight, ram)


def plan_checkpoint(
    checkpoint: Checkpoint,
    drafter: Checkpoint | None,
    load_options: LoadOptions,
    room: Room,
    advised: int | None = None,
) -> VllmPlan:
    """Plan a load; the context is the requested one, or else one for which there is room.

    Args:
        advised: Tokens to draft ahead by the advice of the model's makers; a drafter that says for
            how many it was made takes precedence.

    Raises:
        ContextTooLarge: The requested context is longer than the trained one.
    """
    most = checkpoint.context_max or DEFAULT_CONTEXT
    if load_options.context is not None and load_options.context > most:
        raise ContextTooLarge(
            N_(
                "A context of {context} tokens is too long for “{name}”.",
                context=f"{load_options.context:,}",
                name=checkpoint.name,
            ),
            N_("It was trained for {most} tokens.", most=f"{most:,}"),
            N_("Set a context of {most} tokens or less.", most=f"{most:,}"),
        )
    # A drafter that is a whole model reads the whole text itself.
    drafter_context = drafter.context_max if drafter is not None and drafter.drafting is None else 0
    if (
        drafter_context
        and load_options.context is not None
        and load_options.context > drafter_context
    ):
        drafter = None
    drafts = drafter is not None or checkpoint.mtp == "embedded"
    lookup = load_options.lookup and not drafts
    depth = (
        min(load_options.depth or _usual_depth(drafter, advised, lookup=lookup), MAX_DEPTH)
        if load_options.mtp and (drafts or lookup)
        else 0
    )
    if depth and drafter is not None and drafter_context:
        most = min(most, drafter_context)
    plan = VllmPlan(
        model=checkpoint.path,
        context=load_options.context or most,
        kv_type="f16" if load_options.kv_type == "f16" else "q8_0",
        drafter=drafter.path if drafter is not None else None,
        draft_max=depth,
        lookup=lookup,
        mtp_note=_mtp_note(drafts, load_options, drafter_context),
        anyway=load_options.anyway,
        parallel=load_options.parallel or 1,
        adapters=load_options.adapters,
        options=_usable(load_options, checkpoint, room, depth),
    )
    if load_options.context is None:
        return replace(plan, context=_automatic_context(checkpoint, drafter, plan, room))
    return plan


def _usable(
    load_options: LoadOptions, checkpoint: Checkpoint, room: Room, depth: int
) -> VllmOptions:
    """Return the user's options, without those that this model or computer cannot use."""
    options = load_options.vllm
    if not room.cards:
        return replace(options, offload_bytes=0, batched=None, pictures=False, sounds=False)
    batched = options.batched
    if batched is not None:
        # Each chat has one token in every step, and those that are drafted for it.
        batched = max(batched, _LEAST_BATCH, (load_options.parallel or 1) * (1 + depth))
    return replace(
        options,
        batched=batched,
        pictures=options.pictures and checkpoint.vision,
        sounds=options.sounds and checkpoint.hearing,
    )


def _automatic_context(
    checkpoint: Checkpoint, drafter: Checkpoint | None, plan: VllmPlan, room: Room
) -> int:
    """Return the longest context for which all simultaneous chats have room on the card.

    It is at least the default context, or the longest that fits if that is shorter; chats then
    share the room. It is never longer on a processor, which takes minutes to read more, or if other
    computers hold some of the layers.
    """
    usual = min(plan.context, DEFAULT_CONTEXT)
    usual = min(usual, longest_context(checkpoint, drafter, plan, room) or usual)
    if not room.cards or plan.options.nodes > 1:
        return usual
    all_chats = longest_context(checkpoint, drafter, plan, room, plan.parallel, _SPARE_SHARE) or 0
    return max(usual, min(plan.context, all_chats))


def need_of(
    checkpoint: Checkpoint,
    drafter: Checkpoint | None,
    plan: VllmPlan,
    room: Room,
    chats: int = 1,
) -> Need:
    """Compute the memory for `chats` chats of the whole context."""
    models = [checkpoint]
    weights = 0
    if drafter is not None and plan.drafter is not None and plan.draft_max:
        weights = drafter.weight_bytes
        if drafter.drafting is None or drafter.drafting.method != "mtp":
            models.append(drafter)  # an assistant reads the model's own cache

    def kv(in_flight: int) -> int:
        cards = max(1, room.cards)
        return sum(model.kv_bytes(plan.context, plan.kv_type, in_flight, cards) for model in models)

    # All chats together share the tokens in flight.
    whole = kv(2 * (plan.options.batched or 0) or room.in_flight) + (chats - 1) * kv(0)
    in_ram = min(plan.options.offload_bytes * room.cards, checkpoint.weight_bytes)
    return Need(checkpoint.weight_bytes - in_ram, weights, whole, room.overhead, in_ram)


def take_of(checkpoint: Checkpoint, drafter: Checkpoint | None, plan: VllmPlan, room: Room) -> Need:
    """Compute the memory that a load takes: enough for all chats at once, as far as there is room.

    Computing can take twice the planned memory of a card if there is room for that, too. vLLM uses
    the part that it does not need, and all that is left of a user's share, for the KV cache.
    """
    least = need_of(checkpoint, drafter, plan, room)
    for_all_chats = need_of(checkpoint, drafter, plan, room, max(1, plan.parallel))
    spare = max(0, room.usable_bytes(plan.options.memory_share) - least.total)
    if room.cards and plan.options.memory_share is not None:
        return replace(least, kv=least.kv + spare)
    kv = min(for_all_chats.kv, least.kv + spare)
    more = min(room.overhead, spare - (kv - least.kv)) if room.cards else 0
    return replace(least, kv=kv, overhead=least.overhead + more)


def longest_context(
    checkpoint: Checkpoint,
    drafter: Checkpoint | None,
    plan: VllmPlan,
    room: Room,
    chats: int = 1,
    spare_share: float = 0.0,
) -> int | None:
    """Return the longest context that fits, in steps; None if even the shortest does not fit.

    Args:
        chats: Number of chats that each need room for it.
        spare_share: Share of the KV cache to leave free in addition.
    """
    most = checkpoint.context_max or DEFAULT_CONTEXT
    usable = room.usable_bytes(plan.options.memory_share)

    def fits(context: int) -> bool:
        need = need_of(checkpoint, drafter, replace(plan, context=context), room, chats)
        return need.total + spare_share * need.kv <= usable

    if fits(most):
        return most
    low, high = 0, most // _STEP
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle * _STEP) else (low, middle - 1)
    return low * _STEP if low * _STEP >= min(LEAST_CONTEXT, most) else None


def require_memory(
    checkpoint: Checkpoint, drafter: Checkpoint | None, plan: VllmPlan, room: Room
) -> None:
    """Refuse a plan that does not fit, with the numbers and the context that would fit.

    A plan for several computers is not checked, because vLLM distributes it by its own rules.
    Neither is a plan that the user wants to load anyway.

    Raises:
        NotEnoughMemory: The plan does not fit.
    """
    need, usable = (
        need_of(checkpoint, drafter, plan, room),
        room.usable_bytes(plan.options.memory_share),
    )
    if plan.anyway or plan.options.nodes > 1:
        return
    if need.ram > room.ram:
        raise NotEnoughMemory(
            N_(
                "There is not enough memory for “{name}” in vLLM: {ram} of its weights are to stay "
                "in RAM.",
                name=checkpoint.name,
                ram=amount(need.ram),
            ),
            N_("Only {ram} of RAM are free.", ram=amount(room.ram)),
            N_("Keep fewer of vLLM's weights in RAM, or close other programs."),
            Action("open_settings", "vllm_offload"),
        )
    if need.total <= usable:
        return
    shorter = longest_context(checkpoint, drafter, plan, room)
    what = N_(
        "There is not enough memory for “{name}” in vLLM: it needs {total}, and {have} may "
        "be taken on {room_name}.",
        name=checkpoint.name,
        total=amount(need.total),
        have=amount(usable),
        room_name=room.name,
    )
    why = N_(
        "Its weights take {weights}, the KV cache of {context} tokens takes {kv}, and "
        "computing takes {drafter}.",
        weights=amount(need.weights),
        context=f"{plan.context:,}",
        kv=amount(need.kv),
        drafter=amount(need.drafter + need.overhead),
    )
    if need.total <= room.free and plan.options.memory_share is None:
        why = N_(
            "{why} Another {free} are free, but are left to other programs.",
            why=why,
            free=amount(room.free - usable),
        )
    elif need.total <= room.free:
        raise NotEnoughMemory(
            what,
            N_(
                "{why} {free} are free, but the settings allow only a part of that.",
                why=why,
                free=amount(room.free),
            ),
            N_("Allow vLLM more memory, or set 0 so that it takes what it needs."),
            Action("open_settings", "vllm_memory"),
        )
    raise NotEnoughMemory(
        what,
        why,
        N_(
            "Set a context of {shorter} tokens, which fits, or close other programs.",
            shorter=f"{shorter:,}",
        )
        if shorter is not None
        else N_(
            "Close other programs, choose a checkpoint with fewer bits, or answer with llama.cpp."
        ),
        Action("shorter_context", shorter) if shorter is not None else None,
    )


def _usual_depth(drafter: Checkpoint | None, advised: int | None, *, lookup: bool) -> int:
    """Return the number of tokens to draft ahead if the user has not set it."""
    if lookup:
        return LOOKUP_DEPTH
    trained_depth = drafter.drafting.depth if drafter is not None and drafter.drafting else 0
    return trained_depth or advised or USUAL_DEPTH


def _mtp_note(drafts: bool, load_options: LoadOptions, drafter_context: int) -> str:
    """Explain why drafting is off although it is possible; "" if there is nothing to explain.

    Args:
        drafter_context: Longest context of a drafter that has to read the whole text, else 0.
    """
    if drafts:
        off = N_("Guessing ahead is switched off; vLLM restarts to switch it on.")
        return "" if load_options.mtp else off
    if drafter_context:
        return N_(
            "The drafter reads at most {most} tokens, so it does not guess with "
            "the context that you set.",
            most=f"{drafter_context:,}",
        )
    return ""
