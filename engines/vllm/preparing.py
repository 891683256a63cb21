"""From a plan to what a worker is started from; all that can be refused before a start is."""

from __future__ import annotations

from engines.checkpoint import read_checkpoint
from engines.checkpoint_plan import require_room, room_for
from engines.errors import (
    Action,
    ContextTooLarge,
    EngineUnavailable,
    MtpUnavailable,
    NotAChatModel,
)
from engines.hardware.values import Hardware
from engines.types import LoadPlan
from engines.vllm.memory import used_cards
from engines.vllm.provision.home import Installed
from engines.vllm.running import Setup
from engines.vllm.speculation import speculation


def require_installed(installed: Installed | None) -> Installed:
    """Raises EngineUnavailable."""
    if installed is None:
        raise EngineUnavailable(
            "vLLM is not installed.",
            "It is no part of Hearth: it is fetched when it is wanted, since it is large.",
            "Install it in the settings, or with: hearth engines install vllm",
            Action("install", "vllm"),
        )
    return installed


def prepare(
    plan: LoadPlan, installed: Installed, hardware: Hardware, *, drafting_needed: bool = False
) -> Setup:
    """Raises EngineError for what is refused.

    drafting_needed: it is refused, too, that nothing can draft although the plan wants it.
    Otherwise only an assistant that does not belong to the model is.
    """
    checkpoint = read_checkpoint(plan.model)
    if checkpoint.mtp == "drafter":
        raise NotAChatModel(
            f"“{checkpoint.name}” cannot chat.",
            "It only drafts tokens for another model.",
            "Choose the model it was made for; this one is then used beside it.",
        )
    if checkpoint.context_max and plan.context > checkpoint.context_max:
        raise ContextTooLarge(
            f"A context of {plan.context:,} tokens is too large for “{checkpoint.name}”.",
            f"It was trained for {checkpoint.context_max:,} tokens.",
            f"Take a context of {checkpoint.context_max:,} tokens.",
            Action("shorter_context", checkpoint.context_max),
        )
    assistant = read_checkpoint(plan.drafter) if plan.drafter is not None else None
    advice = ""
    try:
        # Asked for one draft where none are wanted, to know whether they would be possible.
        able = speculation(checkpoint, assistant, plan.draft_max or 1)
    except MtpUnavailable as error:
        if drafting_needed and plan.draft_max:
            raise
        able, advice = None, plan.mtp_note or error.why
    cpu = installed.profile == "cpu"
    cards = used_cards(hardware, plan.tensor_parallel, plan.devices)
    require_room(checkpoint, assistant, plan, room_for(hardware, card=not cpu, cards=len(cards)))
    return Setup(
        plan,
        checkpoint,
        able if plan.draft_max > 0 else None,
        advice,
        "CPU" if cpu else ", ".join(card.name for card in cards) or "NVIDIA",
        installed.version,
        0 if cpu else sum(card.free_bytes or 0 for card in cards),
    )
