"""One checkpoint's way into vLLM: it is read, and planned for the room that there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.core.models.entry import ModelEntry
from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.hardware import Hardware
from engines.memory.checkpoint_plan import plan_checkpoint, require_room, room_for
from engines.memory.load_options import LoadOptions
from engines.models.checkpoint import Checkpoint, pairs, read_checkpoint
from engines.types import LoadedModel, LoadPlan
from engines.vllm.provision.lock import Profile


class PreparedVllmLoad:
    """A checkpoint that is read, to be planned for the room that there is."""

    def __init__(
        self,
        entry: ModelEntry,
        profile: Profile,
        look: Callable[[], Hardware],
        advised: int | None,
    ) -> None:
        self._checkpoint = read_checkpoint(entry.path)
        self._drafter, self._trouble = _drafter(self._checkpoint, entry)
        self._profile = profile
        self._look = look
        self._advised = advised

    def plan(self, load_options: LoadOptions, _cancel: CancelToken) -> LoadPlan:
        room = room_for(self._look(), card=self._profile == "cuda", cards=load_options.cards)
        plan = plan_checkpoint(self._checkpoint, self._drafter, load_options, room, self._advised)
        require_room(self._checkpoint, self._drafter, plan, room)
        return replace(plan, mtp_note=self._trouble) if self._trouble and load_options.mtp else plan

    def learn(self, loaded: LoadedModel) -> None:
        """What vLLM takes it takes by a share of the card, which tells nothing of the model."""


def _drafter(checkpoint: Checkpoint, entry: ModelEntry) -> tuple[Checkpoint | None, str]:
    """The drafter, or the reason why the model has to do without: it is never refused for it."""
    if entry.drafter is None:
        return None, ""
    try:
        drafter = read_checkpoint(entry.drafter)
    except EngineError as error:
        return None, f"The drafter cannot be used: {error.what} {error.why}"
    if not pairs(checkpoint, drafter):
        return None, f"The drafter cannot be used: {drafter.name} was made for another model."
    return drafter, ""
