"""The preparation of a load by llama.cpp: reads the files, plans, and learns the real need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.models.library.services.fitting import Fitting, Judgement, paired, projector_file
from app.models.library.values.entry import ModelEntry
from app.runtime.services.prepared_load import PreparedLoad
from engines.cancel import CancelToken
from engines.memory.load_options import LoadOptions
from engines.memory.planner import require_fit
from engines.models.format import Advise
from engines.models.gguf.header import read_header
from engines.models.pairing import mtp_advice
from engines.types import LlamaPlan, LoadedModel


class PreparedLlamaLoad(PreparedLoad[LlamaPlan]):
    """A model to load into llama.cpp, with room for MTP so that any message can use it."""

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
        self._projector = projector_file(entry.projector)
        self._judged: Judgement | None = None

    def plan(self, load_options: LoadOptions, cancel: CancelToken) -> LlamaPlan:
        """Plan a load for the free memory, after trying the devices. Raises Cancelled."""
        header = self._header
        if load_options.gpu_layers != 0:
            self._ready(load_options.devices, cancel)
        judged = self._fitting.judge(
            self._path, header, load_options, self._drafter, cancel, self._projector
        )
        plan = judged.plan
        if self._trouble and load_options.mtp:
            plan = replace(plan, mtp_note=self._trouble)
        elif plan.mtp_note == mtp_advice(header):
            plan = replace(plan, mtp_note=self._advise(header))
        require_fit(header, judged.hardware, plan, judged.drafter, judged.sizes, judged.projector)
        self._judged = judged
        return plan

    def learn(self, loaded: LoadedModel) -> None:
        """Record the memory that the load took, for later estimates."""
        if self._judged is not None:
            self._fitting.record(self._judged, loaded)
