"""Which model is loaded, and getting another one loaded when it is wanted."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from app.core.models import ModelEntry
from app.services.fitting import Fitting, paired
from app.services.mtp_advice import Advise
from engines.base import Engine, Progress
from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.gguf_header import read_header
from engines.pairing import mtp_advice
from engines.planner import Wishes, require_fit
from engines.types import ChatRequest, Event, LoadedModel, Measured


class Runtime:
    """Owns the engine. Used by one thread at a time; only `measure_for` is called from others.

    fitting: plans each load, and learns from it. advise: what to say of MTP where nothing drafts.
    """

    def __init__(self, engine: Engine, fitting: Fitting, advise: Advise = mtp_advice) -> None:
        self._engine = engine
        self._fitting = fitting
        self._advise = advise
        self._wanted: tuple[ModelEntry, Wishes] | None = None
        self._loaded: LoadedModel | None = None

    @property
    def engine_name(self) -> str:
        return self._engine.name

    @property
    def entry(self) -> ModelEntry | None:
        """The model that is loaded."""
        return self._wanted[0] if self._wanted else None

    def load(
        self, entry: ModelEntry, wishes: Wishes, progress: Progress, cancel: CancelToken
    ) -> LoadedModel:
        """Have this model loaded; at once if it already is.

        There is room for MTP where the model has it, so that each message may use it or not.
        Raises EngineError, or LoadCancelled. Memory is judged after the present model has left.
        """
        if self._loaded is not None and self._wanted == (entry, wishes):
            return self._loaded
        header = read_header(entry.path)
        drafter, trouble = paired(header, entry.drafter)
        self.unload()
        judged = self._fitting.judge(entry.path, header, wishes, drafter, cancel)
        plan = judged.plan
        if trouble and wishes.mtp:
            plan = replace(plan, mtp_note=trouble)
        elif plan.mtp_note == mtp_advice(header):
            plan = replace(plan, mtp_note=self._advise(header))
        require_fit(header, judged.hardware, plan, judged.drafter, judged.sizes)
        self._loaded = self._engine.load(plan, progress, cancel)
        self._wanted = (entry, wishes)
        self._fitting.record(judged, self._loaded)
        return self._loaded

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        return self._engine.chat(request, cancel)

    def measure(self, request: ChatRequest) -> Measured:
        """What a request takes of the loaded model's context. Raises EngineError."""
        return self._engine.measure(request)

    def measure_for(
        self, entry: ModelEntry, wishes: Wishes, request: ChatRequest
    ) -> Measured | None:
        """The same, from any thread; None where this model is not loaded as it is wished for.

        Raises EngineError, if the model's chat template refuses the messages.
        """
        if self._wanted != (entry, wishes):
            return None
        try:
            return self._engine.measure(request)
        except EngineFailed:
            return None  # it has just been unloaded

    def unload(self) -> None:
        self._engine.close()
        self._loaded = None
        self._wanted = None
