"""What the runtime asks of each engine before a load, and llama.cpp's answer to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from app.core.models import ModelEntry
from app.services.fitting import Fitting, Judgement, paired
from app.services.mtp_advice import Advise
from engines.base import Engine, Progress
from engines.cancel import CancelToken
from engines.gguf_header import read_header
from engines.pairing import mtp_advice
from engines.planner import Wishes, require_fit
from engines.types import LoadedModel, LoadPlan


class Load(Protocol):
    """One model on its way into an engine; its files were looked at, and are what they should be.

    plan: for the memory that is free now. Raises EngineError (NotEnoughMemory, with the numbers)
    or LoadCancelled. learn: what the load has really taken, for the next time.
    """

    def plan(self, wishes: Wishes, cancel: CancelToken) -> LoadPlan: ...

    def learn(self, loaded: LoadedModel) -> None: ...


class Loads(Protocol):
    """An engine, and how models get into it. Used by one thread at a time, but for `well`.

    local: its model lies in this computer's memory, which such engines have to share. at_once: the
    most answers that it is asked for at a time; None leaves it to what is loaded.
    """

    local: bool
    at_once: int | None

    @property
    def engine(self) -> Engine:
        """Made when it is first asked for, where that takes time."""
        ...

    def open(self, entry: ModelEntry) -> Load:
        """Look at a model's files, with what is loaded still there. Raises EngineError."""
        ...

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """See that what was loaded is still there: a worker may have ended since.

        Raises EngineError or LoadCancelled; then nothing is loaded.
        """
        ...

    def settle(self) -> None:
        """Return when the memory of what was unloaded is free again, for another engine's model."""
        ...

    def well(self) -> bool:
        """Whether what was loaded is still there, as far as that can be told at once."""
        ...


class LlamaLoads:
    """llama.cpp in this process. advise: what to say of MTP where nothing drafts.

    ready: has the named devices tried before their first use, or all. Raises LoadCancelled.
    """

    local = True
    at_once: int | None = None

    def __init__(
        self,
        engine: Engine,
        fitting: Fitting,
        advise: Advise = mtp_advice,
        ready: Callable[[tuple[str, ...], CancelToken], None] = lambda _devices, _cancel: None,
    ) -> None:
        self.engine = engine
        self._fitting = fitting
        self._advise = advise
        self._ready = ready

    def open(self, entry: ModelEntry) -> Load:
        return _LlamaLoad(entry, self._fitting, self._advise, self._ready)

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """It lives and ends with Hearth."""

    def settle(self) -> None:
        """Its memory is free as soon as the model is."""

    def well(self) -> bool:
        return True


class _LlamaLoad:
    """There is room for MTP where the model has it, so that each message may use it or not."""

    def __init__(
        self,
        entry: ModelEntry,
        fitting: Fitting,
        advise: Advise,
        ready: Callable[[tuple[str, ...], CancelToken], None],
    ) -> None:
        self._ready = ready
        self._path = entry.path
        self._fitting = fitting
        self._advise = advise
        self._header = read_header(entry.path)
        self._drafter, self._trouble = paired(self._header, entry.drafter)
        self._judged: Judgement | None = None

    def plan(self, wishes: Wishes, cancel: CancelToken) -> LoadPlan:
        header = self._header
        if wishes.gpu_layers != 0:
            self._ready(wishes.devices, cancel)
        judged = self._fitting.judge(self._path, header, wishes, self._drafter, cancel)
        plan = judged.plan
        if self._trouble and wishes.mtp:
            plan = replace(plan, mtp_note=self._trouble)
        elif plan.mtp_note == mtp_advice(header):
            plan = replace(plan, mtp_note=self._advise(header))
        require_fit(header, judged.hardware, plan, judged.drafter, judged.sizes)
        self._judged = judged
        return plan

    def learn(self, loaded: LoadedModel) -> None:
        if self._judged is not None:
            self._fitting.record(self._judged, loaded)
