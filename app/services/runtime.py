"""Which model is loaded, and getting another one loaded when it is wanted."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

from app.core.models import ModelEntry
from engines.base import Engine, Progress
from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.gguf_header import GgufHeader, read_header
from engines.hardware import Hardware
from engines.pairing import require_pair
from engines.planner import Drafter, Wishes, make_plan, require_fit
from engines.types import ChatRequest, Event, LoadedModel


class Runtime:
    """Owns the engine. Used by one thread at a time.

    hardware: looks at the computer now, for the memory that is free at this moment.
    """

    def __init__(self, engine: Engine, hardware: Callable[[], Hardware]) -> None:
        self._engine = engine
        self._hardware = hardware
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
        drafter, trouble = _drafter(header, entry.drafter)
        self.unload()
        hardware = self._hardware()
        plan = make_plan(entry.path, header, hardware, wishes, drafter)
        if trouble and wishes.mtp:
            plan = replace(plan, mtp_note=trouble)
        require_fit(header, hardware, plan, drafter.header if drafter else None)
        self._loaded = self._engine.load(plan, progress, cancel)
        self._wanted = (entry, wishes)
        return self._loaded

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        return self._engine.chat(request, cancel)

    def unload(self) -> None:
        self._engine.close()
        self._loaded = None
        self._wanted = None


def _drafter(target: GgufHeader, path: Path | None) -> tuple[Drafter | None, str]:
    """The drafter, or the reason why the model has to do without: it is never refused for it."""
    if path is None:
        return None, ""
    try:
        header = read_header(path)
        require_pair(target, header)
    except EngineError as error:
        return None, f"The drafter cannot be used: {error.what} {error.why}"
    return Drafter(path, header), ""
