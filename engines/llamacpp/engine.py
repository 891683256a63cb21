"""The llama.cpp engine: loads a GGUF file into this process and answers with it."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from time import perf_counter

from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import EngineFailed, LoadCancelled
from engines.gguf_header import read_header, require_chat
from engines.llamacpp.answer import answer
from engines.llamacpp.loaded import Loaded
from engines.llamacpp.memory import require_memory
from engines.llamacpp.model import open_model
from engines.llamacpp.native import load_native
from engines.types import ChatRequest, Event, LoadedModel, LoadPlan


class LlamaCppEngine:
    """An `engines.base.Engine` on llama.cpp."""

    name = "llamacpp"

    def __init__(self) -> None:
        self._loaded: Loaded | None = None
        self._busy = threading.Lock()

    def load(self, plan: LoadPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Load the plan's model in place of the present one. See `Engine.load`."""
        with self._alone():
            self._unload()
            began = perf_counter()
            header = read_header(plan.model)
            require_chat(plan.model, header)
            require_memory(header, plan)
            native = load_native()
            model = open_model(native, plan, progress, cancel)
            try:
                if cancel.cancelled:
                    raise LoadCancelled
                self._loaded = Loaded(native, model, header, plan, began)
            except BaseException:
                model.close()
                raise
            progress(1.0)
            return self._loaded.report

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        """Answer the request. See `Engine.chat`."""
        with self._alone():
            if self._loaded is None:
                raise EngineFailed(
                    "There is nothing to answer with.", "No model is loaded.", "Choose a model."
                )
            yield from answer(self._loaded, request, cancel)

    def close(self) -> None:
        """Unload. See `Engine.close`."""
        with self._alone():
            self._unload()

    def _unload(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
            self._loaded = None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two users at once are a bug of the caller's, and would crash llama.cpp."""
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("the engine is busy: finish or close the present answer first")
        try:
            yield
        finally:
            self._busy.release()
