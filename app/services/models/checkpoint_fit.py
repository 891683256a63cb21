"""Whether a checkpoint fits this computer in vLLM, in the shape in which GGUF files are judged."""

from __future__ import annotations

from app.core.models.entry import ModelEntry
from app.services.models.checkpoints import Checkpoints
from app.services.models.fitting import FitReport
from engines.errors import NotAModel
from engines.hardware import Hardware
from engines.memory.checkpoint_plan import longest_context, need_of, plan_checkpoint, room_for
from engines.memory.fit import Fit, Parts, Verdict, judge
from engines.memory.load_options import LoadOptions
from engines.text import amount
from engines.vllm.provision.lock import Profile

_PLANNED = "This is a planning figure: vLLM says what it has taken once it runs."


def fit_of(
    entry: ModelEntry,
    load_options: LoadOptions,
    checkpoints: Checkpoints,
    hardware: Hardware,
    profile: Profile | None,
    advised: int | None = None,
) -> FitReport:
    """profile: of the vLLM that is here; None judges as the one for cards would have it.

    Raises EngineError, also for a model on another server, which needs no memory here.
    """
    if entry.engine == "remote":
        raise NotAModel(
            f"“{entry.name}” needs no memory of this computer.",
            "It runs on another server.",
            "Ask whoever runs that server what it can hold.",
        )
    checkpoint = checkpoints.read(entry.path)
    drafter = checkpoints.read(entry.drafter) if entry.drafter is not None else None
    room = room_for(hardware, card=profile != "cpu", cards=load_options.cards)
    plan = plan_checkpoint(checkpoint, drafter, load_options, room, advised)
    need = need_of(checkpoint, drafter, plan, room)
    have = room.may_take(plan.memory_share)
    verdict: Verdict = judge(need.total, have)
    numbers = f"{amount(need.total)} are needed and {amount(have)} are free on {room.name}"
    fit = Fit(
        verdict=verdict,
        need_bytes=need.total,
        have_bytes=have,
        parts=Parts(need.weights, need.kv, need.beside, need.drafter),
        context=plan.context,
        device=room.name,
        reason=f"It fits: {numbers}." if verdict != "no" else f"It does not fit: {numbers}.",
    )
    longest = longest_context(checkpoint, drafter, plan, room)
    more = [f"A context of up to {longest:,} tokens fits."] if longest else []
    return FitReport(fit, plan, False, None, (fit.reason, *more, _PLANNED), _PLANNED)
