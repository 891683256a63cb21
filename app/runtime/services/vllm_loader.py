"""Loads checkpoints into the local vLLM worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from app.models.library.values.entry import ModelEntry
from engines.base import Engine, Progress
from engines.cancel import CancelToken
from engines.errors import Action, EngineError, EngineUnavailable
from engines.models.checkpoint import CheckpointFormat
from engines.types import Adapter, LoadedModel, LoadPlan

if TYPE_CHECKING:
    from app.models.library.services.fitting import FitReport
    from app.runtime.services.loaders import PreparedLoad
    from engines.hardware import Hardware
    from engines.memory.load_options import LoadOptions
    from engines.vllm.provision.lock import Profile


class WorkerEngine(Engine, Protocol):
    """An engine in a process of its own, which can end by itself."""

    def revive(self, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Start it again if it has ended. Raises EngineError or Cancelled."""
        ...

    def adapt(self, wanted: str, adapters: tuple[Adapter, ...], cancel: CancelToken) -> bool:
        """Change the LoRA adapters of what is loaded; returns whether that was possible.

        wanted: as in `share`, empty for what nobody shares.
        """
        ...

    def share(
        self,
        wanted: str,
        name: str,
        plan: Callable[[], LoadPlan],
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        """Use what another Hearth has started for the same, or start it. Raises as `load`."""
        ...

    def leave(self, stays_s: float) -> None:
        """Close it, and have what was shared stay so many seconds for others."""
        ...

    def settle(self) -> None:
        """Wait until the memory of the last worker is free again."""
        ...

    @property
    def well(self) -> bool:
        """Whether its process is there and says so."""
        ...


@dataclass(frozen=True)
class Sharing:
    """How a worker is shared with other Hearths of this computer; by default it is not.

    wanted: whether it is, asked at each load. stays_s: how long it stays when this one ends.
    end_unused: ends those that nobody uses.
    """

    wanted: Callable[[], bool] = lambda: False
    stays_s: Callable[[], float] = lambda: 0.0
    end_unused: Callable[[], None] = lambda: None


class VllmLoader:
    """Loads checkpoints into vLLM.

    make: the engine, called once and only when it is needed. look: at the computer now.

    installed: which build of vLLM is here, None for none. advised: tokens to draft ahead, as the
    catalogue knows it of a model.
    """

    local = True
    at_once: int | None = None

    def __init__(
        self,
        make: Callable[[], WorkerEngine],
        installed: Callable[[], Profile | None],
        look: Callable[[], Hardware],
        advised: Callable[[ModelEntry], int | None] = lambda _: None,
        sharing: Sharing | None = None,
    ) -> None:
        self._make = make
        self._installed = installed
        self._look = look
        self._advised = advised
        self._sharing = sharing or Sharing()
        self._checkpoints = CheckpointFormat()

    @cached_property
    def engine(self) -> WorkerEngine:
        return self._make()

    def open(self, entry: ModelEntry) -> PreparedLoad:
        profile = self._installed()
        if profile is None:
            raise EngineUnavailable(
                f"“{entry.name}” cannot be loaded.",
                "It is a checkpoint for vLLM, which is not installed.",
                "Install it under Engines, or choose the model's GGUF file.",
                Action("install", "vllm"),
                terminal="Install it with `hearth engines install vllm`, or choose the model's "
                "GGUF file.",
            )
        from app.runtime.services.prepared_vllm_load import PreparedVllmLoad

        return PreparedVllmLoad(entry, profile, self._look, self._advised(entry))

    def load(
        self,
        entry: ModelEntry,
        load: PreparedLoad,
        load_options: LoadOptions,
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        def plan() -> LoadPlan:
            return load.plan(load_options, cancel)

        if not self._sharing.wanted():
            self._sharing.end_unused()
            return self.engine.load(plan(), progress, cancel)
        wanted = self._wanted(entry, load_options)
        return self.engine.share(wanted, entry.name, plan, progress, cancel)

    def judge(
        self, entry: ModelEntry, load_options: LoadOptions, _cancel: CancelToken
    ) -> FitReport:
        """Judge the fit in the build that is here; without one, in that for cards."""
        from app.runtime.services.prepared_vllm_load import judged

        return judged(entry, load_options, self._installed(), self._look(), self._advised(entry))

    def context(self, entry: ModelEntry, load_options: LoadOptions) -> int | None:
        if load_options.context is not None:
            return load_options.context
        try:
            return self.judge(entry, load_options, CancelToken()).plan.context
        except EngineError:
            return None  # told when it is loaded

    def relevant(self, entry: ModelEntry, load_options: LoadOptions) -> LoadOptions:
        """Where something drafts for a model, auto is on; where nothing does, it is off."""
        if self._drafts(entry):
            return replace(load_options, lookup=False)
        lookup = load_options.lookup
        return replace(load_options, mtp=lookup, depth=load_options.depth if lookup else None)

    def _drafts(self, entry: ModelEntry) -> bool:
        from app.runtime.services.prepared_vllm_load import drafter_of

        try:
            checkpoint = self._checkpoints.read(entry.path)
        except EngineError:
            return True  # told when it is loaded
        return (
            checkpoint.mtp == "embedded"
            or drafter_of(checkpoint, entry, self._checkpoints.read)[0] is not None
        )

    def adapt(
        self, entry: ModelEntry, before: LoadOptions, after: LoadOptions, cancel: CancelToken
    ) -> bool:
        """Give a running worker other LoRA adapters, where nothing else is to change."""
        if replace(before, adapters=after.adapters) != after:
            return False
        return self.engine.adapt(self._wanted(entry, after), after.adapters, cancel)

    def _wanted(self, entry: ModelEntry, load_options: LoadOptions) -> str:
        """Tell what is wanted of a worker; "" where it is not to be shared."""
        from app.runtime.services.prepared_vllm_load import wanted_of

        return wanted_of(entry, load_options) if self._sharing.wanted() else ""

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        self.engine.revive(progress, cancel)

    def settle(self) -> None:
        if "engine" in self.__dict__:
            self.engine.settle()
        self._sharing.end_unused()

    def leave(self) -> None:
        stays_s = self._sharing.stays_s() if self._sharing.wanted() else 0.0
        if stays_s:
            self.engine.leave(stays_s)
        else:
            self.engine.close()

    def well(self) -> bool:
        return self.engine.well
