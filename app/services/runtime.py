"""Which model is loaded in which engine, and getting another one loaded when it is wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

from app.core.models import ModelEntry
from app.services.loads import Loads
from engines.base import Engine, Progress
from engines.cancel import CancelToken
from engines.errors import EngineFailed, EngineUnavailable
from engines.planner import Wishes
from engines.types import ChatRequest, EngineName, Event, LoadedModel, Measured, MtpCheck


@dataclass(frozen=True)
class _Held:
    entry: ModelEntry
    wishes: Wishes
    loaded: LoadedModel


class Runtime:
    """Owns the engines. Used by one thread at a time; others may call `measure_for`, and ask for
    `entry`, `engine_name`, `held`, `opened` and `idle_s`, and as many may `chat` as
    `LoadedModel.answers_at_once` says.

    Engines whose models lie in this computer's memory hold one between them; a model on another
    server takes none, and may be ready beside it. engines: the first is the usual one. clock: in
    seconds, for what is idle.
    """

    def __init__(
        self, engines: Mapping[EngineName, Loads], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engines = engines
        self._clock = clock
        self._current: EngineName = next(iter(engines))
        self._held: dict[EngineName, _Held] = {}
        self._opened: dict[EngineName, Engine] = {}
        self._used: dict[EngineName, float] = {}

    @property
    def engine_name(self) -> str:
        """Of the engine that answers."""
        return self._engines[self._current].engine.name

    @property
    def entry(self) -> ModelEntry | None:
        """The model that answers."""
        held = self._held.get(self._current)
        return held.entry if held else None

    @property
    def loaded(self) -> LoadedModel | None:
        """That model, as its engine reported it."""
        held = self._held.get(self._current)
        return held.loaded if held else None

    def held(self, engine: EngineName) -> ModelEntry | None:
        """The model that an engine holds ready, whether it answers at present or not."""
        held = self._held.get(engine)
        return held.entry if held else None

    def opened(self, engine: EngineName) -> Engine | None:
        """An engine that holds a model, or loads one just now."""
        return self._opened.get(engine)

    def load(
        self, entry: ModelEntry, wishes: Wishes, progress: Progress, cancel: CancelToken
    ) -> LoadedModel:
        """Have this model loaded; at once if it already is, and has not ended since.

        Raises EngineError, or LoadCancelled. Memory is judged after the present model has left.
        """
        name = entry.engine
        if name not in self._engines:
            raise EngineUnavailable(
                f"“{entry.name}” cannot be loaded.",
                f"It needs the engine {name}, which is not here.",
                "Choose another model.",
            )
        loads = self._engines[name]
        held = self._held.get(name)
        if held is not None and (held.entry, held.wishes) == (entry, wishes):
            self._current = name
            self._revive(name, progress, cancel)
            return held.loaded
        load = loads.open(entry)
        self._make_room(name)
        self._current = name
        plan = load.plan(wishes, cancel)
        self._opened[name] = loads.engine
        loaded = loads.engine.load(plan, progress, cancel)
        self._used[name] = self._clock()  # before others can see that it is held
        self._held[name] = _Held(entry, wishes, loaded)
        load.learn(loaded)
        return loaded

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        name = self._current
        try:
            yield from self._engine.chat(request, cancel)
        finally:
            self._used[name] = self._clock()

    def measure(self, request: ChatRequest) -> Measured:
        """What a request takes of the loaded model's context. Raises EngineError."""
        return self._engine.measure(request)

    def measure_for(
        self, entry: ModelEntry, wishes: Wishes, request: ChatRequest
    ) -> Measured | None:
        """The same, from any thread; None where this model is not loaded as it is wished for.

        Raises EngineError, if the model's chat template refuses the messages.
        """
        held = self._held.get(entry.engine)
        if held is None or (held.entry, held.wishes) != (entry, wishes):
            return None
        try:
            return self._engines[entry.engine].engine.measure(request)
        except EngineFailed:
            return None  # it has just been unloaded

    def check_mtp(self, request: ChatRequest, depth: int, cancel: CancelToken) -> MtpCheck:
        """As `Engine.check_mtp`, of the model that answers."""
        name = self._current
        try:
            return self._engine.check_mtp(request, depth, cancel)
        finally:
            self._used[name] = self._clock()

    def idle_s(self, engine: EngineName) -> float:
        """Seconds since an engine was last at work; 0 where it holds nothing."""
        return self._clock() - self._used[engine] if engine in self._held else 0.0

    def stop_idle(self, engine: EngineName, after_s: float) -> bool:
        """Unload an engine that has not answered for so many seconds; whether it was unloaded."""
        if engine not in self._held or self.idle_s(engine) < after_s:
            return False
        self._close(engine)
        return True

    def unload(self) -> None:
        for name in list(self._opened):
            self._close(name)

    def _revive(self, name: EngineName, progress: Progress, cancel: CancelToken) -> None:
        try:
            self._engines[name].revive(progress, cancel)
        except BaseException:
            self._close(name)  # so that the next try begins anew
            raise
        self._used[name] = self._clock()

    @property
    def _engine(self) -> Engine:
        return self._engines[self._current].engine

    def _make_room(self, name: EngineName) -> None:
        """Unload what has the memory that this engine needs."""
        for other in list(self._opened):
            shared = self._engines[other].local and self._engines[name].local
            if other == name or shared:
                self._close(other)

    def _close(self, name: EngineName) -> None:
        self._held.pop(name, None)
        self._opened.pop(name).close()
