"""Turns a plan into the setup of a worker, and refuses plans that cannot work."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from engines.errors import (
    Action,
    AdapterUnknown,
    ContextTooLarge,
    EngineUnavailable,
    MtpUnavailable,
    NotAChatModel,
)
from engines.hardware.values import Hardware
from engines.memory.checkpoint_plan import require_memory, room_for, take_of
from engines.models.checkpoint import Checkpoint, read_checkpoint, tensors_in
from engines.sentences import N_
from engines.types import Adapter, VllmPlan
from engines.vllm.memory import used_cards
from engines.vllm.provision.home import Installed
from engines.vllm.running import Setup
from engines.vllm.speculation import speculation

NO_SOUND_DECODER: Final = N_(
    "This vLLM was installed without the decoder for sounds, so it is sent none. "
    "Update vLLM under Engines to use sounds."
)
"""Note for an environment that an earlier version of Hearth made."""

_INPUT: Final = re.compile(r"model\.layers\.\d+\.self_attn\.[qkv]_proj\.lora_A\.weight$")


def require_installed(installed: Installed | None) -> Installed:
    """Return the environment of vLLM. Raises EngineUnavailable if it is not installed."""
    if installed is None:
        raise EngineUnavailable(
            N_("vLLM is not installed."),
            N_("It is not part of Hearth: because it is large, it is downloaded only when needed."),
            N_("Install it under Engines."),
            Action("install", "vllm"),
            terminal=N_("Install it: `hearth engines install vllm`."),
        )
    return installed


def prepare(
    plan: VllmPlan, installed: Installed, hardware: Hardware, *, drafting_needed: bool = False
) -> Setup:
    """Turn a plan into a setup.

    Args:
        drafting_needed: Also refuse a plan that wants drafts if nothing can draft. Otherwise only a
            drafter that was made for another model is refused.

    Raises:
        EngineError: The plan cannot work.
    """
    checkpoint = read_checkpoint(plan.model)
    if checkpoint.mtp == "drafter":
        raise NotAChatModel(
            N_("“{name}” cannot chat.", name=checkpoint.name),
            N_("It only helps another model to answer faster."),
            N_("Choose the model it was made for; this one then helps it."),
        )
    if checkpoint.context_max and plan.context > checkpoint.context_max:
        raise ContextTooLarge(
            N_(
                "A context of {context} tokens is too large for “{model}”.",
                context=f"{plan.context:,}",
                model=checkpoint.name,
            ),
            N_("It was trained for {most} tokens.", most=f"{checkpoint.context_max:,}"),
            N_("Take a context of {most} tokens.", most=f"{checkpoint.context_max:,}"),
            Action("shorter_context", checkpoint.context_max),
        )
    require_adapters(plan.adapters, checkpoint)
    lacks_decoder = plan.options.sounds and not installed.hears
    if lacks_decoder:
        plan = replace(plan, options=replace(plan.options, sounds=False))
    drafter = read_checkpoint(plan.drafter) if plan.drafter is not None else None
    advice = plan.mtp_note if plan.lookup else ""
    try:
        # Without drafts in the plan, ask for one to learn whether drafting would be possible.
        speculative = speculation(checkpoint, drafter, plan.draft_max or 1, lookup=plan.lookup)
    except MtpUnavailable as error:
        if drafting_needed and plan.draft_max:
            raise
        speculative, advice = None, plan.mtp_note or error.why
    cpu = installed.profile == "cpu"
    cards = used_cards(hardware, plan.options.cards)
    room = room_for(hardware, card=not cpu, cards=len(cards))
    require_memory(checkpoint, drafter, plan, room)
    # A plan that seems not to fit, or that vLLM spreads itself, gets all memory that is allowed.
    uses_estimate = not plan.anyway and plan.options.nodes == 1
    return Setup(
        plan,
        checkpoint,
        speculative if plan.draft_max > 0 else None,
        advice,
        "CPU" if cpu else ", ".join(card.name for card in cards) or "NVIDIA",
        installed.version,
        0 if cpu else sum(card.free_bytes or 0 for card in cards),
        take_of(checkpoint, drafter, plan, room).total if uses_estimate else None,
        (NO_SOUND_DECODER,) if lacks_decoder else (),
    )


def require_adapters(adapters: Sequence[Adapter], checkpoint: Checkpoint) -> None:
    """Refuse unsuitable adapters a minute before vLLM would. Raises AdapterUnknown."""
    for adapter in adapters:
        if why := _why_unfit(adapter.path, checkpoint):
            raise AdapterUnknown(
                N_("The adapter “{adapter}” cannot be used.", adapter=adapter.name),
                why,
                N_("Name the folder of a LoRA adapter in the settings, under Engines."),
                Action("open_settings", "vllm_adapters"),
            )


def _why_unfit(folder: Path, checkpoint: Checkpoint) -> str:
    """Explain why an adapter cannot be used with a model; "" if no reason is known.

    The matrices that act on the inputs of queries, keys and values are as wide as the model.
    """
    config = folder / "adapter_config.json"
    try:
        rank = int(json.loads(config.read_text(encoding="utf-8"))["r"])
        files = sorted(folder.glob("*.safetensors"))
        tensors = {
            name: tensor["shape"] for file in files for name, tensor in tensors_in(file).items()
        }
        widths = {shape[1] for name, shape in tensors.items() if _INPUT.search(name)}
    except OSError as error:
        return N_(
            "{name} cannot be read: {strerror}.",
            name=error.filename or config,
            strerror=error.strerror,
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return N_("{folder} is damaged or is not an adapter.", folder=folder)
    if rank < 1:
        return N_("Its rank is {rank}.", rank=rank)
    if other_widths := widths - {checkpoint.width} if checkpoint.width else set():
        return N_(
            "It was made for a model of width {other}, and “{name}” has {width}.",
            other=f"{min(other_widths):,}",
            name=checkpoint.name,
            width=f"{checkpoint.width:,}",
        )
    return ""
