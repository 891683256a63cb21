"""How checkpoints get into the local vLLM worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from app.core.models.entry import ModelEntry
from engines.base import Engine, Progress
from engines.cancel import CancelToken
from engines.errors import Action, EngineError, EngineUnavailable
from engines.hardware import Hardware
from engines.memory.checkpoint_plan import plan_checkpoint, require_room, room_for
from engines.memory.load_options import LoadOptions
from engines.models.checkpoint import Checkpoint, pairs, read_checkpoint
from engines.types import LoadedModel, LoadPlan

if TYPE_CHECKING:
    from app.services.engines.loads import PreparedLoad
    from engines.hardware import Hardware


Profile = Literal["cuda", "cpu"]


class Worker(Engine, Protocol):
    """An engine in a process of its own, which can end by itself."""

    def revive(self, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Start it again if it has ended. Raises EngineError or Cancelled."""
        ...

    def settle(self) -> None:
        """Return when the memory of the last worker is free again."""
        ...

    @property
    def well(self) -> bool:
        """Whether its process is there and says so."""
        ...


class VllmLoader:
    """make: the engine, called once and only when it is needed. look: at the computer now.

    installed: which build of vLLM is here, None for none. advised: tokens to draft ahead, as the
    catalogue knows it of a model.
    """

    local = True
    at_once: int | None = None

    def __init__(
        self,
        make: Callable[[], Worker],
        installed: Callable[[], Profile | None],
        look: Callable[[], Hardware],
        advised: Callable[[ModelEntry], int | None] = lambda _: None,
    ) -> None:
        self._make = make
        self._installed = installed
        self._look = look
        self._advised = advised

    @cached_property
    def engine(self) -> Worker:
        return self._make()

    def open(self, entry: ModelEntry) -> PreparedLoad:
        profile = self._installed()
        if profile is None:
            raise EngineUnavailable(
                f"“{entry.name}” cannot be loaded.",
                "It is a checkpoint for vLLM, which is not installed.",
                "Install it under Engines in the settings, or with `hearth engines install vllm`; "
                "or choose the model's GGUF file.",
                Action("install", "vllm"),
            )
        return PreparedVllmLoad(entry, profile, self._look, self._advised(entry))

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        self.engine.revive(progress, cancel)

    def settle(self) -> None:
        self.engine.settle()

    def well(self) -> bool:
        return self.engine.well


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
