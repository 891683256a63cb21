"""Prepares a checkpoint's load by vLLM: reads it, and plans for the memory there is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from app import __version__
from app.core.models.entry import ModelEntry
from app.services.models.fitting import FitReport
from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.hardware import Hardware
from engines.memory.checkpoint_plan import (
    longest_context,
    need_of,
    plan_checkpoint,
    require_memory,
    room_for,
)
from engines.memory.fit import Fit, Parts, Split, judge
from engines.memory.load_options import LoadOptions
from engines.models.checkpoint import Checkpoint, read_checkpoint
from engines.text import amount
from engines.types import LoadedModel, LoadPlan
from engines.vllm.provision.lock import Profile
from engines.vllm.speculation import require_pair

_PLANNED = "This is an estimate; the real figure is known once vLLM runs."


class PreparedVllmLoad:
    """A checkpoint that is read, to be planned for the memory there is."""

    def __init__(
        self,
        entry: ModelEntry,
        profile: Profile,
        look: Callable[[], Hardware],
        advised: int | None,
    ) -> None:
        self._checkpoint = read_checkpoint(entry.path)
        self._drafter, self._trouble = drafter_of(self._checkpoint, entry)
        self._profile = profile
        self._look = look
        self._advised = advised

    def plan(self, load_options: LoadOptions, _cancel: CancelToken) -> LoadPlan:
        room = room_for(self._look(), card=self._profile == "cuda", cards=load_options.cards)
        plan = plan_checkpoint(self._checkpoint, self._drafter, load_options, room, self._advised)
        require_memory(self._checkpoint, self._drafter, plan, room)
        return replace(plan, mtp_note=self._trouble) if self._trouble else plan

    def learn(self, loaded: LoadedModel) -> None:
        """Do nothing: vLLM takes a share of the card, which tells nothing of the model."""


def judged(
    entry: ModelEntry,
    load_options: LoadOptions,
    profile: Profile | None,
    hardware: Hardware,
    advised: int | None,
) -> FitReport:
    """Whether a checkpoint fits this computer in vLLM. Raises EngineError."""
    checkpoint = read_checkpoint(entry.path)
    drafter, _ = drafter_of(checkpoint, entry)
    room = room_for(hardware, card=profile != "cpu", cards=load_options.cards)
    plan = plan_checkpoint(checkpoint, drafter, load_options, room, advised)
    need = need_of(checkpoint, drafter, plan, room)
    have = room.may_take(plan.memory_share)
    verdict = judge(need.total, have)
    parts = Parts(need.weights, need.kv, need.beside, need.drafter)
    numbers = f"{amount(need.total)} are needed and {amount(have)} are free on {room.name}"
    fit = Fit(
        verdict=verdict,
        need_bytes=need.total,
        have_bytes=have,
        split=Split(gpu=parts) if room.cards else Split(ram=parts),
        context=plan.context,
        device=room.name,
        reason=f"It fits: {numbers}." if verdict != "no" else f"It does not fit: {numbers}.",
    )
    longest = longest_context(checkpoint, drafter, plan, room)
    more = [f"A context of up to {longest:,} tokens fits."] if longest else []
    sentences = (fit.reason, *more, _PLANNED)
    return FitReport(fit, 1.0 if room.cards else 0.0, plan, False, None, sentences, _PLANNED)


def wanted_of(entry: ModelEntry, load_options: LoadOptions) -> str:
    """Tell a worker of this model with these options from all others; "" where nobody can.

    Its files count as they are now: what was downloaded anew is another model. So does the version
    of Hearth, which may start it in another way.
    """
    folders = (entry.path, entry.drafter, *(it.path for it in load_options.adapters))
    try:
        files = [
            (str(it), it.stat().st_size, it.stat().st_mtime_ns)
            for folder in folders
            if folder is not None
            for it in sorted(folder.iterdir())
        ]
    except OSError:
        return ""  # told when it is loaded
    options = asdict(replace(load_options, anyway=False))
    wanted = json.dumps([__version__, files, str(entry.drafter), options], default=str)
    return hashlib.sha256(wanted.encode()).hexdigest()


def drafter_of(
    checkpoint: Checkpoint,
    entry: ModelEntry,
    read: Callable[[Path], Checkpoint] = read_checkpoint,
) -> tuple[Checkpoint | None, str]:
    """Return the drafter, or why the model does without: it is never refused for that."""
    if entry.drafter is None:
        return None, ""
    try:
        drafter = read(entry.drafter)
        require_pair(checkpoint, drafter)
    except EngineError as error:
        return None, f"The drafter cannot be used: {error.what} {error.why}"
    return drafter, ""
