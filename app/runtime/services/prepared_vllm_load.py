"""The preparation of a load by vLLM: reads the checkpoint, and plans for the free memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from app import __version__
from app.models.library.services.fitting import FitReport
from app.models.library.values.entry import ModelEntry
from app.runtime.services.prepared_load import PreparedLoad
from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.hardware import Hardware
from engines.memory.checkpoint_plan import (
    Room,
    longest_context,
    need_of,
    plan_checkpoint,
    require_memory,
    room_for,
    take_of,
)
from engines.memory.fit import Fit, Parts, Split, judge
from engines.memory.load_options import DEFAULT_CONTEXT, LoadOptions
from engines.models.checkpoint import Checkpoint, read_checkpoint
from engines.sentences import N_
from engines.text import amount
from engines.types import VllmPlan
from engines.vllm.provision.lock import Profile
from engines.vllm.speculation import require_pair

_PLANNED = N_("This is an estimate; the real figure is known once vLLM runs.")


class PreparedVllmLoad(PreparedLoad[VllmPlan]):
    """A checkpoint that was read and is to be planned for the free memory.

    There is nothing to learn from a load: vLLM takes a fixed share of the card, which says nothing
    about the model.
    """

    def __init__(
        self,
        entry: ModelEntry,
        profile: Profile,
        hardware: Callable[[], Hardware],
        advised: int | None,
    ) -> None:
        self._checkpoint = read_checkpoint(entry.path)
        self._drafter, self._trouble = drafter_of(self._checkpoint, entry)
        self._profile = profile
        self._hardware = hardware
        self._advised = advised

    def plan(self, load_options: LoadOptions, _cancel: CancelToken) -> VllmPlan:
        """Plan a load for the memory of the chosen cards."""
        room = room_for(
            self._hardware(), card=self._profile == "cuda", cards=load_options.vllm.cards
        )
        plan = plan_checkpoint(self._checkpoint, self._drafter, load_options, room, self._advised)
        require_memory(self._checkpoint, self._drafter, plan, room)
        return replace(plan, mtp_note=self._trouble) if self._trouble else plan


def fit_report(
    entry: ModelEntry,
    load_options: LoadOptions,
    profile: Profile | None,
    hardware: Hardware,
    advised: int | None,
) -> FitReport:
    """Return whether a checkpoint fits this computer in vLLM, and what it takes.

    A context that Hearth chooses fills the card, so the verdict is for the default context then.

    Args:
        profile: The installed build of vLLM; None means the build for cards.
        advised: The draft tokens that the catalogue advises for the model.

    Raises:
        EngineError: The checkpoint cannot be read or planned.
    """
    checkpoint = read_checkpoint(entry.path)
    drafter, _ = drafter_of(checkpoint, entry)
    room = room_for(hardware, card=profile != "cpu", cards=load_options.vllm.cards)
    plan = plan_checkpoint(checkpoint, drafter, load_options, room, advised)
    needed = take_of(checkpoint, drafter, plan, room)
    have = room.usable_bytes(plan.options.memory_share)
    chosen = load_options.context is None
    least = replace(plan, context=min(plan.context, DEFAULT_CONTEXT)) if chosen else plan
    verdict = judge(need_of(checkpoint, drafter, least, room).total, have)
    parts = Parts(needed.weights, needed.kv, needed.overhead, needed.drafter)
    need, free = amount(needed.total), amount(have)
    fit = Fit(
        verdict=verdict,
        need_bytes=needed.total,
        have_bytes=have,
        split=Split(gpu=parts, ram=Parts(needed.ram)) if room.cards else Split(ram=parts),
        context=plan.context,
        device=room.name,
        reason=N_(
            "It fits: it needs {need} of the {free} available on {name}.",
            need=need,
            free=free,
            name=room.name,
        )
        if verdict != "no"
        else N_(
            "It does not fit: it needs {need} of the {free} available on {name}.",
            need=need,
            free=free,
            name=room.name,
        ),
    )
    more = _of_chats(checkpoint, drafter, plan, room) if verdict != "no" else []
    longest = longest_context(checkpoint, drafter, plan, room)
    if longest and longest > plan.context:
        more.append(N_("A context of up to {longest} tokens fits.", longest=f"{longest:,}"))
    if needed.ram:
        more.append(
            N_("{ram} of the weights stay in RAM: answers are much slower.", ram=amount(needed.ram))
        )
    if verdict != "no" and room.cards:
        more.append(
            N_("{free} stay free for other programs.", free=amount(room.free - needed.total))
        )
    sentences = (fit.reason, *more, _PLANNED)
    share = needed.total / (needed.total + needed.ram) if room.cards else 0.0
    return FitReport(fit, share, plan, False, None, sentences, _PLANNED)


def fits_alone(
    entry: ModelEntry, load_options: LoadOptions, profile: Profile | None, hardware: Hardware
) -> bool:
    """Return whether a checkpoint would fit on empty cards: another model would be unloaded."""
    cards = tuple(replace(card, free_bytes=card.total_bytes) for card in hardware.gpus)
    try:
        report = fit_report(entry, load_options, profile, replace(hardware, gpus=cards), None)
    except EngineError:
        return False
    return report.fit.verdict != "no"


def _of_chats(
    checkpoint: Checkpoint, drafter: Checkpoint | None, plan: VllmPlan, room: Room
) -> list[str]:
    """Return a sentence on how many chats fit at once; none if only one is answered at a time."""
    if plan.parallel < 2:
        return []
    whole = need_of(checkpoint, drafter, plan, room, plan.parallel).kv
    if take_of(checkpoint, drafter, plan, room).kv >= whole:
        return [
            N_(
                "{parallel} chats at once have room for {context} tokens each.",
                parallel=plan.parallel,
                context=f"{plan.context:,}",
            )
        ]
    return [
        N_(
            "{parallel} chats at once share the room; one may have {context} tokens.",
            parallel=plan.parallel,
            context=f"{plan.context:,}",
        )
    ]


def worker_key(entry: ModelEntry, load_options: LoadOptions) -> str:
    """Return a key that identifies a worker by its model, options, files and Hearth's version.

    Files count with their size and time: a model that was downloaded again is another model.
    Another version of Hearth could start the worker differently.

    Returns:
        The key; "" if the files cannot be read.
    """
    folders = (entry.path, entry.drafter, *(adapter.path for adapter in load_options.adapters))
    try:
        files = [
            (str(path), path.stat().st_size, path.stat().st_mtime_ns)
            for folder in folders
            if folder is not None
            for path in sorted(folder.iterdir())
        ]
    except OSError:
        return ""  # the load reports the error
    options = asdict(replace(load_options, anyway=False))
    described = json.dumps([__version__, files, str(entry.drafter), options], default=str)
    return hashlib.sha256(described.encode()).hexdigest()


def drafter_of(
    checkpoint: Checkpoint,
    entry: ModelEntry,
    read: Callable[[Path], Checkpoint] = read_checkpoint,
) -> tuple[Checkpoint | None, str]:
    """Return the drafter, or why there is none: a model is never refused because of it."""
    if entry.drafter is None:
        return None, ""
    try:
        drafter = read(entry.drafter)
        require_pair(checkpoint, drafter)
    except EngineError as error:
        return None, N_("The drafter cannot be used: {what} {why}", what=error.what, why=error.why)
    return drafter, ""
