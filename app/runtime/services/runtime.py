"""The models that are loaded in engines, and leases on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from app.runtime.services.lease import Lease
from app.runtime.services.queue import EngineQueue, QueueRequest, Ticket
from app.runtime.services.request_log import Admission, RequestLog
from engines.cancel import CancelToken
from engines.errors import EngineFailed, EngineUnavailable
from engines.sentences import N_
from engines.types import EngineStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.models.library.services.fitting import FitReport
    from app.models.library.values.entry import ModelEntry
    from app.runtime.services.loaders import EngineLoader
    from engines.base import Engine, LoadingEngine, Progress
    from engines.hardware import Hardware
    from engines.memory.load_options import LoadOptions
    from engines.types import ChatRequest, EngineName, LoadedModel, Measured

T = TypeVar("T")

_MEMORY = "memory"
"""The room of all engines whose models are in this computer's memory."""


@dataclass(frozen=True)
class LoadedEntry:
    """A model that an engine has loaded."""

    entry: ModelEntry
    load_options: LoadOptions
    loaded: LoadedModel


class Runtime:
    """Owns the engines and leases their models. Safe from any thread.

    To answer, measure or compare, take a `lease` and use only that: it is on one model in one
    engine, which stays loaded until the lease is closed. A lease waits on its own thread for its
    turn in the queue of `app.runtime.services.queue`. If it finds the room empty, it has the room
    alone and can load the model; once the model is ready, it shares it with as many others as
    `LoadedModel.answers_at_once` and `EngineLoader.at_once` allow.

    So `LoadingEngine.load`, `close`, `check_mtp` and `EngineLoader.open`, `plan` and `revive` are
    called by one thread while nobody else is working in that room, and `Engine.chat` by each lease
    on its own thread. Unloading (`stop`, `stop_idle`, `unload`) waits in the same queue.
    `measure_for`, `look_up`, `loaded_model`, `status` and `idle_s` take no turn: they look at the
    state of the moment.

    Engines whose models are in this computer's memory hold one model between them; a model on
    another server needs none of it, and answers at the same time.

    Attributes:
        queue: Join it before asking for a lease, to keep a place.
        requests: Records every answer of every lease.
    """

    def __init__(
        self,
        engines: Mapping[EngineName, EngineLoader[LoadingEngine[Any]]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the runtime; nothing is loaded.

        Args:
            clock: A monotonic clock in seconds, for idle times.
        """
        self._engines = engines
        self._clock = clock
        self.requests = RequestLog()
        self.queue = EngineQueue(
            {name: _MEMORY if engine.local else name for name, engine in engines.items()}
        )
        self._loaded: dict[EngineName, LoadedEntry] = {}
        self._opened: dict[EngineName, Engine] = {}
        self._used: dict[EngineName, float] = {}
        self._by_person: set[EngineName] = set()

    def loaded_model(self, engine: EngineName) -> ModelEntry | None:
        """Return the model that an engine has loaded, whether or not it is answering."""
        loaded = self._loaded.get(engine)
        return loaded.entry if loaded else None

    def loaded_options(self, entry: ModelEntry) -> LoadOptions | None:
        """Return the options that a model was loaded with; None if it is not loaded."""
        loaded = self._loaded.get(entry.engine)
        return loaded.load_options if loaded is not None and loaded.entry == entry else None

    def blocking_model(self, entry: ModelEntry) -> ModelEntry | None:
        """Return the model that this one would replace, if a person has used that model."""
        for name, loaded in list(self._loaded.items()):
            same_room = self._engines[name].local and self._engines[entry.engine].local
            if loaded.entry != entry and (same_room or name == entry.engine):
                return loaded.entry if name in self._by_person else None
        return None

    def models(self) -> tuple[LoadedEntry, ...]:
        """List the loaded models."""
        return tuple(self._loaded.values())

    def emptied(self, hardware: Hardware) -> Hardware:
        """Return the hardware as it would be with all models unloaded.

        A load begins by unloading the present model, so its memory is free for the next one.
        """
        from engines.memory.placement import emptied

        buffers = (model.loaded.buffers for model in self.models())
        return emptied(hardware, filter(None, buffers))

    def status(self, engine: EngineName) -> EngineStatus:
        """Return what an engine is doing; one with no model loaded or loading is stopped."""
        opened = self._opened.get(engine)
        return opened.status() if opened else EngineStatus()

    def cache_used(self, engine: EngineName) -> float | None:
        """Return how full an engine's KV cache is; see `Engine.cache_used`."""
        opened = self._opened.get(engine)
        return opened.cache_used() if opened else None

    def judge(
        self, entry: ModelEntry, load_options: LoadOptions, cancel: CancelToken | None = None
    ) -> FitReport:
        """Return whether a model would fit this computer now, without loading it or taking a turn.

        Raises EngineError and Cancelled.
        """
        return self._loads(entry).judge(entry, load_options, cancel or CancelToken())

    def context_of(self, entry: ModelEntry, load_options: LoadOptions) -> int | None:
        """Return the context that a model would be loaded with; see `EngineLoader.context`."""
        loads = self._engines.get(entry.engine)
        return loads.context(entry, load_options) if loads else None

    def lease(
        self,
        entry: ModelEntry,
        load_options: LoadOptions,
        progress: Progress,
        cancel: CancelToken,
        turn: Ticket | None = None,
        *,
        exclusive: bool = False,
        for_client: bool = False,
    ) -> Lease:
        """Lease a model; load it if necessary. Returns at once if it is ready and has a free place.

        Whether the model fits is judged after the present model has been unloaded.

        Args:
            turn: A place that was taken before; left when the lease closes or cannot be given.
            exclusive: Nobody else can work in the room at the same time.
            for_client: The lease is for another program.

        Raises:
            EngineError: The model cannot be loaded.
            Cancelled: `cancel` was called.
        """
        turn = turn or self.queue.join()
        admission = self.requests.admission(entry, turn.joined)
        try:
            loads = self._loads(entry)
            load_options = loads.relevant(entry, load_options)
            turn.enter(
                QueueRequest(entry.engine, (entry, load_options), entry.name, exclusive), cancel
            )
            if turn.is_alone:
                self._prepare(entry, load_options, progress, cancel)
            if not for_client:
                self._by_person.add(entry.engine)
            return self._lend(entry, loads, turn, admission)
        except BaseException:
            admission.leave()
            turn.leave()
            raise

    def spare(
        self, entry: ModelEntry, load_options: LoadOptions, cancel: CancelToken
    ) -> Lease | None:
        """Lease a model in its turn if it is loaded with these options; never load it.

        Returns:
            The lease; None if the model is not loaded like this.

        Raises:
            Cancelled: `cancel` was called.
        """
        turn = self.queue.join()
        admission = self.requests.admission(entry, turn.joined)
        try:
            loads = self._loads(entry)
            load_options = loads.relevant(entry, load_options)
            turn.enter(QueueRequest(entry.engine, (entry, load_options), entry.name), cancel)
            if turn.is_alone and not (self._is_loaded(entry, load_options) and loads.well()):
                admission.leave()
                turn.leave()
                return None
            return self._lend(entry, loads, turn, admission)
        except BaseException:
            admission.leave()
            turn.leave()
            raise

    def measure_for(
        self, entry: ModelEntry, load_options: LoadOptions, request: ChatRequest
    ) -> Measured | None:
        """Measure a request; None if the model is not loaded with these options.

        Raises EngineError if the model's chat template refuses the messages.
        """
        return self.look_up(
            entry, load_options, lambda engine: engine.measure(request, CancelToken())
        )

    def look_up(
        self, entry: ModelEntry, load_options: LoadOptions, work: Callable[[Engine], T]
    ) -> T | None:
        """Ask a loaded model for something that needs no turn.

        Args:
            work: Calls methods that an engine allows during an answer.

        Returns:
            The result of `work`; None if the model is not loaded with these options.

        Raises:
            EngineError: `work` failed.
        """
        if not self._is_loaded(entry, self._loads(entry).relevant(entry, load_options)):
            return None
        try:
            return work(self._engines[entry.engine].engine)
        except EngineFailed:
            return None  # it has just been unloaded

    def idle_s(self, engine: EngineName) -> float:
        """Return the seconds since an engine last worked; 0 if it is working or holds no model."""
        if engine not in self._loaded or self.queue.in_use(engine):
            return 0.0
        return self._clock() - self._used[engine]

    def stop_idle(self, engine: EngineName, after_s: float) -> bool:
        """Unload an engine that has not answered for so many seconds; never wait for a busy one.

        Returns:
            Whether it was unloaded.
        """
        if engine not in self._loaded or self.idle_s(engine) < after_s:
            return False
        with self._exclusively(engine):
            # Requests made in the meantime have been answered and have reset the idle time.
            if engine not in self._loaded or self._clock() - self._used[engine] < after_s:
                return False
            self._close(engine)
            return True

    def stop_idle_of_clients(self, after_s: float) -> None:
        """Unload models that only other programs have used, after so many idle seconds."""
        for name in [engine for engine in self._loaded if engine not in self._by_person]:
            self.stop_idle(name, after_s)

    def stop(self, engine: EngineName) -> None:
        """Unload an engine, after all requests already in the queue."""
        with self._exclusively(engine):
            if engine in self._opened:
                self._close(engine)

    def unload(self) -> None:
        """Unload all engines, each after the requests already in its queue."""
        for name in self._engines:
            self.stop(name)

    def leave(self) -> None:
        """Unload all engines as Hearth ends; a worker can stay for the next Hearth."""
        for name, loads in self._engines.items():
            with self._exclusively(name):
                if name in self._opened:
                    self._forget(name)
                    loads.leave()

    def _loads(self, entry: ModelEntry) -> EngineLoader[LoadingEngine[Any]]:
        if entry.engine not in self._engines:
            raise EngineUnavailable(
                N_("“{name}” cannot be loaded.", name=entry.name),
                N_("It needs the engine {engine}, which is not installed.", engine=entry.engine),
                N_("Choose another model."),
            )
        return self._engines[entry.engine]

    def _is_loaded(self, entry: ModelEntry, load_options: LoadOptions) -> bool:
        loaded = self._loaded.get(entry.engine)
        return loaded is not None and (loaded.entry, loaded.load_options) == (entry, load_options)

    def _lend(
        self,
        entry: ModelEntry,
        loads: EngineLoader[LoadingEngine[Any]],
        turn: Ticket,
        admission: Admission,
    ) -> Lease:
        """Create the lease for a turn whose model is ready."""
        name, loaded = entry.engine, self._loaded[entry.engine].loaded
        if turn.is_alone:
            most = loaded.answers_at_once
            turn.ready(min(most, loads.at_once or most))

        def closed() -> None:
            self._used[name] = self._clock()

        admission.granted()
        return Lease(entry, loaded, loads, turn, closed, self.requests, admission)

    def _prepare(
        self, entry: ModelEntry, load_options: LoadOptions, progress: Progress, cancel: CancelToken
    ) -> None:
        """Load the model; called by the turn that has the room alone."""
        name = entry.engine
        loads = self._engines[name]
        if self._is_loaded(entry, load_options):
            try:
                loads.revive(progress, cancel)
            except BaseException:
                self._close(name)  # so that the next attempt starts from scratch
                raise
            self._used[name] = self._clock()
            return
        previous = self._loaded.get(name)
        is_same = previous is not None and previous.entry == entry
        if previous and is_same and loads.adapt(entry, previous.load_options, load_options, cancel):
            self._loaded[name] = replace(previous, load_options=load_options)
            self._used[name] = self._clock()
            return
        prepared = loads.open(entry)
        self._make_room(name)
        self._opened[name] = loads.engine
        loaded = loads.load(entry, prepared, load_options, progress, cancel)
        self._used[name] = self._clock()  # before others can see that it is held
        self._loaded[name] = LoadedEntry(entry, load_options, loaded)
        prepared.learn(loaded)

    @contextmanager
    def _exclusively(self, engine: EngineName) -> Iterator[None]:
        with self.queue.join() as turn:
            turn.enter(QueueRequest(engine, None, "", exclusive=True), CancelToken())
            yield

    def _make_room(self, name: EngineName) -> None:
        """Unload the models that hold the memory this engine needs."""
        for other, loads in self._engines.items():
            in_memory = loads.local and self._engines[name].local
            if other in self._opened and (other == name or in_memory):
                self._close(other)
                loads.settle()
            elif other != name and in_memory:
                loads.settle()

    def _close(self, name: EngineName) -> None:
        self._forget(name).close()

    def _forget(self, name: EngineName) -> Engine:
        self._loaded.pop(name, None)
        self._by_person.discard(name)
        self.queue.emptied(name)
        return self._opened.pop(name)
