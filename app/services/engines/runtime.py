"""Which models are loaded in which engines, and lending them to those who answer with them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.services.engines.lease import Lease
from app.services.engines.queue import QueueRequest
from app.services.engines.turns import Ticket, Turns
from engines.cancel import CancelToken
from engines.errors import EngineFailed, EngineUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.core.models.entry import ModelEntry
    from app.services.engines.loads import EngineLoader
    from engines.base import Engine, Progress
    from engines.memory.load_options import LoadOptions
    from engines.types import ChatRequest, EngineName, LoadedModel, Measured

_MEMORY = "memory"
"""The room of all engines whose models lie in this computer's memory."""


@dataclass(frozen=True)
class _Held:
    entry: ModelEntry
    load_options: LoadOptions
    loaded: LoadedModel


class Runtime:
    """Owns the engines. May be used from any thread.

    Whoever answers, measures or compares takes a `lease` and works with that alone: it is on one
    model in one engine, which stays loaded until the lease is closed. A lease waits on its own
    thread for its turn in the queue of `app.services.engines.queue`; with the turn come the right
    to load (who finds the room empty has it alone until the model is ready) and then a place beside
    others, as many as `LoadedModel.answers_at_once` and `EngineLoader.at_once` say. So
    `Engine.load`, `close`, `check_mtp` and `EngineLoader.open`, `plan` and `revive` are called by
    one thread while nobody else is at work in that room, `Engine.chat` by each lease on its own
    thread. What is unloaded (`stop`, `stop_idle`, `unload`) waits in the same queue. `measure_for`,
    `held`, `opened` and `idle_s` take no turn: they look at what is there at that moment.

    Engines whose models lie in this computer's memory hold one between them; a model on another
    server takes none, and answers beside it. turns: the line, to join it before a lease is asked
    for. clock: in seconds, for what is idle.
    """

    def __init__(
        self,
        engines: Mapping[EngineName, EngineLoader],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engines = engines
        self._clock = clock
        self.turns = Turns({name: _MEMORY if it.local else name for name, it in engines.items()})
        self._held: dict[EngineName, _Held] = {}
        self._opened: dict[EngineName, Engine] = {}
        self._used: dict[EngineName, float] = {}

    def held(self, engine: EngineName) -> ModelEntry | None:
        """The model that an engine holds ready, whether it answers at present or not."""
        held = self._held.get(engine)
        return held.entry if held else None

    def opened(self, engine: EngineName) -> Engine | None:
        """An engine that holds a model, or loads one just now."""
        return self._opened.get(engine)

    def lease(
        self,
        entry: ModelEntry,
        load_options: LoadOptions,
        progress: Progress,
        cancel: CancelToken,
        turn: Ticket | None = None,
        *,
        alone: bool = False,
    ) -> Lease:
        """Have this model loaded; at once if it already is, has not ended since, and has room.

        turn: one that was joined before; it is left when the lease is closed, or not given.
        alone: nobody else may be at work beside it. Raises EngineError, or Cancelled. Memory
        is judged after the present model has left.
        """
        turn = turn or self.turns.join()
        try:
            loads = self._loads(entry)
            turn.come(QueueRequest(entry.engine, (entry, load_options), entry.name, alone), cancel)
            if turn.is_alone:
                self._prepare(entry, load_options, progress, cancel)
            return self._lent(entry, loads, turn)
        except BaseException:
            turn.leave()
            raise

    def spare(
        self, entry: ModelEntry, load_options: LoadOptions, cancel: CancelToken
    ) -> Lease | None:
        """A lease in its turn, if the model is loaded as it is wished for then; nothing is loaded.

        Raises Cancelled.
        """
        turn = self.turns.join()
        try:
            loads = self._loads(entry)
            turn.come(QueueRequest(entry.engine, (entry, load_options), entry.name), cancel)
            if turn.is_alone and not (self._holds(entry, load_options) and loads.well()):
                turn.leave()
                return None
            return self._lent(entry, loads, turn)
        except BaseException:
            turn.leave()
            raise

    def measure_for(
        self, entry: ModelEntry, load_options: LoadOptions, request: ChatRequest
    ) -> Measured | None:
        """What a request takes of a model's context; None where that is not loaded as wished for.

        Raises EngineError, if the model's chat template refuses the messages.
        """
        if not self._holds(entry, load_options):
            return None
        try:
            return self._engines[entry.engine].engine.measure(request, CancelToken())
        except EngineFailed:
            return None  # it has just been unloaded

    def idle_s(self, engine: EngineName) -> float:
        """Seconds since an engine was last at work; 0 where it is, or holds nothing."""
        if engine not in self._held or self.turns.in_use(engine):
            return 0.0
        return self._clock() - self._used[engine]

    def stop_idle(self, engine: EngineName, after_s: float) -> bool:
        """Unload an engine that has not answered for so many seconds; whether it was unloaded.

        One that is at work is not waited for.
        """
        if engine not in self._held or self.idle_s(engine) < after_s:
            return False
        with self._alone(engine):
            # What was asked for meanwhile has been answered, and has started the time anew.
            if engine not in self._held or self._clock() - self._used[engine] < after_s:
                return False
            self._close(engine)
            return True

    def stop(self, engine: EngineName) -> None:
        """Unload an engine, after all who have asked for it before."""
        with self._alone(engine):
            if engine in self._opened:
                self._close(engine)

    def unload(self) -> None:
        """Unload all of them, each after those who have asked for it before."""
        for name in self._engines:
            self.stop(name)

    def _loads(self, entry: ModelEntry) -> EngineLoader:
        if entry.engine not in self._engines:
            raise EngineUnavailable(
                f"“{entry.name}” cannot be loaded.",
                f"It needs the engine {entry.engine}, which is not here.",
                "Choose another model.",
            )
        return self._engines[entry.engine]

    def _holds(self, entry: ModelEntry, load_options: LoadOptions) -> bool:
        held = self._held.get(entry.engine)
        return held is not None and (held.entry, held.load_options) == (entry, load_options)

    def _lent(self, entry: ModelEntry, loads: EngineLoader, turn: Ticket) -> Lease:
        """For one whose turn has come, with the model ready."""
        name, loaded = entry.engine, self._held[entry.engine].loaded
        if turn.is_alone:
            most = loaded.answers_at_once
            turn.ready(min(most, loads.at_once or most))

        def closed() -> None:
            self._used[name] = self._clock()

        return Lease(entry, loaded, loads, turn, closed)

    def _prepare(
        self, entry: ModelEntry, load_options: LoadOptions, progress: Progress, cancel: CancelToken
    ) -> None:
        """Have it loaded, by one who is alone."""
        name = entry.engine
        loads = self._engines[name]
        if self._holds(entry, load_options):
            try:
                loads.revive(progress, cancel)
            except BaseException:
                self._close(name)  # so that the next try begins anew
                raise
            self._used[name] = self._clock()
            return
        load = loads.open(entry)
        self._make_room(name)
        plan = load.plan(load_options, cancel)
        self._opened[name] = loads.engine
        loaded = loads.engine.load(plan, progress, cancel)
        self._used[name] = self._clock()  # before others can see that it is held
        self._held[name] = _Held(entry, load_options, loaded)
        load.learn(loaded)

    @contextmanager
    def _alone(self, engine: EngineName) -> Iterator[None]:
        with self.turns.join() as turn:
            turn.come(QueueRequest(engine, None, "", alone=True), CancelToken())
            yield

    def _make_room(self, name: EngineName) -> None:
        """Unload what has the memory that this engine needs."""
        for other in list(self._opened):
            shared = self._engines[other].local and self._engines[name].local
            if other == name or shared:
                self._close(other)
                self._engines[other].settle()

    def _close(self, name: EngineName) -> None:
        self._held.pop(name, None)
        self.turns.emptied(name)
        self._opened.pop(name).close()
