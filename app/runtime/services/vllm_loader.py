"""Loads checkpoints into the local vLLM worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from app.models.library.values.entry import ModelEntry
from app.runtime.services.loaders import EngineLoader, OutsideEngine
from app.runtime.services.prepared_load import PreparedLoad
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import Action, EngineError, EngineUnavailable
from engines.models.checkpoint import CheckpointFormat
from engines.sentences import N_
from engines.types import Adapter, LoadedModel, VllmPlan

if TYPE_CHECKING:
    from app.models.library.services.fitting import FitReport
    from engines.hardware import Hardware
    from engines.memory.load_options import LoadOptions
    from engines.vllm.provision.lock import Profile


class WorkerEngine(OutsideEngine[VllmPlan], Protocol):
    """An engine in its own process, which several Hearths can share."""

    def adapt(self, key: str, adapters: tuple[Adapter, ...], cancel: CancelToken) -> bool:
        """Change the LoRA adapters of the loaded model; return whether that was possible.

        Args:
            key: See `share`; "" for a worker that is not shared.
        """
        ...

    def share(
        self,
        key: str,
        name: str,
        plan: Callable[[], VllmPlan],
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        """Use a worker that another Hearth has started for the same key, or start one.

        Raises as `load` does.

        Args:
            key: The key that identifies the worker.
            name: The model's name.
            plan: Computes the plan if a worker has to be started.
        """
        ...

    def leave(self, stays_s: float) -> None:
        """Close it; a shared worker stays for others for so many seconds."""
        ...

    def settle(self) -> None:
        """Wait until the memory of the last worker is free."""
        ...


@dataclass(frozen=True)
class Sharing:
    """How a worker is shared with other Hearths on this computer; by default it is not.

    Attributes:
        is_on: Returns whether to share it; called at each load.
        stays_s: Returns how many seconds it stays when this Hearth ends.
        end_unused: Ends shared workers that nobody uses.
    """

    is_on: Callable[[], bool] = lambda: False
    stays_s: Callable[[], float] = lambda: 0.0
    end_unused: Callable[[], None] = lambda: None


class VllmLoader(EngineLoader[WorkerEngine]):
    """Loads checkpoints into vLLM."""

    def __init__(
        self,
        make: Callable[[], WorkerEngine],
        installed: Callable[[], Profile | None],
        hardware: Callable[[], Hardware],
        advised: Callable[[ModelEntry], int | None] = lambda _: None,
        sharing: Sharing | None = None,
    ) -> None:
        """Create the loader.

        Args:
            make: Creates the engine.
            installed: Returns the installed build of vLLM; None for none.
            hardware: Detects the hardware.
            advised: Returns the number of draft tokens that the catalogue advises for a model.
            sharing: How the worker is shared.
        """
        super().__init__(make)
        self._installed = installed
        self._hardware = hardware
        self._advised = advised
        self._sharing = sharing or Sharing()
        self._checkpoints = CheckpointFormat()

    def open(self, entry: ModelEntry) -> PreparedLoad[VllmPlan]:
        """Prepare a load. Raises EngineUnavailable if vLLM is not installed."""
        profile = self._installed()
        if profile is None:
            raise EngineUnavailable(
                N_("“{name}” cannot be loaded.", name=entry.name),
                N_("It is a checkpoint for vLLM, which is not installed."),
                N_("Install it under Engines, or choose the model's GGUF file."),
                Action("install", "vllm"),
                terminal=N_(
                    "Install it with `hearth engines install vllm`, or choose the model's "
                    "GGUF file."
                ),
            )
        from app.runtime.services.prepared_vllm_load import PreparedVllmLoad

        return PreparedVllmLoad(entry, profile, self._hardware, self._advised(entry))

    def load(
        self,
        entry: ModelEntry,
        prepared: PreparedLoad[VllmPlan],
        load_options: LoadOptions,
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        """Start a worker with the model, or connect to one that runs it already."""

        def plan() -> VllmPlan:
            return prepared.plan(load_options, cancel)

        if not self._sharing.is_on():
            self._sharing.end_unused()
            return self.engine.load(plan(), progress, cancel)
        key = self._worker_key(entry, load_options)
        return self.engine.share(key, entry.name, plan, progress, cancel)

    def judge(
        self, entry: ModelEntry, load_options: LoadOptions, _cancel: CancelToken
    ) -> FitReport:
        """Judge the fit for the installed build; if there is none, for the build for cards."""
        from app.runtime.services.prepared_vllm_load import fit_report

        return fit_report(
            entry, load_options, self._installed(), self._hardware(), self._advised(entry)
        )

    def context(self, entry: ModelEntry, load_options: LoadOptions) -> int | None:
        """Return the context in tokens that the model would get; None if unknown."""
        if load_options.context is not None:
            return load_options.context
        try:
            return self.judge(entry, load_options, CancelToken()).plan.context
        except EngineError:
            return None  # the load reports the error

    def relevant(self, entry: ModelEntry, load_options: LoadOptions) -> LoadOptions:
        """Drop the options that have no effect on this model.

        If something drafts for the model, `lookup` is dropped; otherwise MTP is on only with
        `lookup`.
        """
        if self._drafts(entry):
            return replace(load_options, lookup=False)
        lookup = load_options.lookup
        return replace(load_options, mtp=lookup, depth=load_options.depth if lookup else None)

    def _drafts(self, entry: ModelEntry) -> bool:
        from app.runtime.services.prepared_vllm_load import drafter_of

        try:
            checkpoint = self._checkpoints.read(entry.path)
        except EngineError:
            return True  # the load reports the error
        return (
            checkpoint.mtp == "embedded"
            or drafter_of(checkpoint, entry, self._checkpoints.read)[0] is not None
        )

    def adapt(
        self, entry: ModelEntry, before: LoadOptions, after: LoadOptions, cancel: CancelToken
    ) -> bool:
        """Give a running worker other LoRA adapters, if nothing else differs."""
        if replace(before, adapters=after.adapters) != after:
            return False
        return self.engine.adapt(self._worker_key(entry, after), after.adapters, cancel)

    def _worker_key(self, entry: ModelEntry, load_options: LoadOptions) -> str:
        """Return the key of a shared worker; "" if it is not shared."""
        from app.runtime.services.prepared_vllm_load import worker_key

        return worker_key(entry, load_options) if self._sharing.is_on() else ""

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """Start the worker again after it ended by itself."""
        self.engine.revive(progress, cancel)

    def settle(self) -> None:
        """End the workers that nobody uses, once the last answer has ended."""
        if "engine" in self.__dict__:
            self.engine.settle()
        self._sharing.end_unused()

    def leave(self) -> None:
        """End the worker, or leave it running for the time of the settings."""
        stays_s = self._sharing.stays_s() if self._sharing.is_on() else 0.0
        if stays_s:
            self.engine.leave(stays_s)
        else:
            self.engine.close()

    def well(self) -> bool:
        """Return whether the worker runs and answers."""
        return self.engine.is_healthy
