"""Loads models into engines: the base of all loaders, and those for llama.cpp and for servers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from app.base.once import once
from app.runtime.services.prepared_load import PreparedLoad
from engines.base import LoadingEngine
from engines.errors import NotAModel
from engines.models.pairing import mtp_advice
from engines.sentences import N_
from engines.types import LlamaPlan, ServedPlan

if TYPE_CHECKING:
    from app.models.library.services.fitting import FitReport, Fitting
    from app.models.library.values.entry import ModelEntry
    from engines.base import Progress
    from engines.cancel import CancelToken
    from engines.memory.load_options import LoadOptions
    from engines.models.format import Advise
    from engines.types import LoadedModel

Plan_contra = TypeVar("Plan_contra", contravariant=True)
E_co = TypeVar("E_co", bound=LoadingEngine[Any], covariant=True)


class OutsideEngine(LoadingEngine[Plan_contra], Protocol[Plan_contra]):
    """An engine whose model runs outside this process, and can end by itself."""

    def revive(self, progress: Progress, cancel: CancelToken) -> object:
        """Start the model again if it has ended. Raises EngineError and Cancelled."""
        ...

    @property
    def is_healthy(self) -> bool:
        """True if the model is running and reports no fault."""
        ...


class EngineLoader(ABC, Generic[E_co]):
    """An engine and the loading of models into it.

    All methods except `well` are called by one thread at a time.

    Attributes:
        local: Its model is in this computer's memory, which such engines share.
        at_once: Maximum number of answers at a time; None leaves it to the loaded model.
    """

    local = True
    at_once: int | None = None

    def __init__(self, make: Callable[[], E_co]) -> None:
        """Create the loader.

        Args:
            make: Creates the engine; called once, when it is first needed.
        """
        self._make = make

    @once
    def engine(self) -> E_co:
        """The engine, created on first use."""
        return self._make()

    @abstractmethod
    def open(self, entry: ModelEntry) -> PreparedLoad[Any]:
        """Check a model's files, while another model is still loaded. Raises EngineError."""

    def load(
        self,
        _entry: ModelEntry,
        prepared: PreparedLoad[Any],
        load_options: LoadOptions,
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        """Plan for the memory that is free now, and load.

        Args:
            prepared: The result of `open`.

        Raises:
            EngineError: The model cannot be loaded.
            Cancelled: `cancel` was called.
        """
        return self.engine.load(prepared.plan(load_options, cancel), progress, cancel)

    @abstractmethod
    def judge(self, entry: ModelEntry, load_options: LoadOptions, cancel: CancelToken) -> FitReport:
        """Return whether a model would fit this computer now, without loading it.

        Raises:
            EngineError: It cannot be judged.
            NotAModel: The model needs no memory here.
            Cancelled: `cancel` was called.
        """

    def context(self, _entry: ModelEntry, load_options: LoadOptions) -> int | None:
        """Return the context that a load would have now, in tokens.

        None if only a load can tell; 0 if nothing can.
        """
        return load_options.context

    def relevant(self, _entry: ModelEntry, load_options: LoadOptions) -> LoadOptions:
        """Return the options without those that have no effect on this model.

        A change of the dropped options does not cause another load.
        """
        return load_options

    def adapt(
        self, _entry: ModelEntry, _before: LoadOptions, _after: LoadOptions, _cancel: CancelToken
    ) -> bool:
        """Change the options of the loaded model without a new load.

        Returns:
            False if that is not possible.

        Raises:
            EngineError: The change failed.
        """
        return False

    def revive(self, _progress: Progress, _cancel: CancelToken) -> None:
        """Make sure that the loaded model still runs: its worker can have ended.

        Raises EngineError or Cancelled; then nothing is loaded.
        """
        return

    def settle(self) -> None:
        """Wait until the memory of an unloaded model is free for another engine's model.

        First, end workers that stay for a later Hearth and that nobody uses.
        """
        return

    def leave(self) -> None:
        """Unload the model as Hearth ends; a worker can stay for the next Hearth."""
        self.engine.close()

    def well(self) -> bool:
        """Return whether the loaded model still runs, as far as is known without waiting."""
        return True


class LlamaLoader(EngineLoader[LoadingEngine[LlamaPlan]]):
    """Loads models into llama.cpp in this process."""

    def __init__(
        self,
        make: Callable[[], LoadingEngine[LlamaPlan]],
        fitting: Callable[[], Fitting],
        advise: Advise = mtp_advice,
        ready: Callable[[tuple[str, ...], CancelToken], None] = lambda _devices, _cancel: None,
    ) -> None:
        """Create the loader; the functions are called when a model is loaded.

        Args:
            make: Creates the engine.
            fitting: Returns the judge of memory.
            advise: Returns the note on MTP for a model without a drafter.
            ready: Tries the named devices, or all of them, before their first use. Raises
                Cancelled.
        """
        super().__init__(make)
        self._fitting = fitting
        self._advise = advise
        self._ready = ready

    def open(self, entry: ModelEntry) -> PreparedLoad[LlamaPlan]:
        """Read the model's header and prepare a load."""
        from app.runtime.services.prepared_llama_load import PreparedLlamaLoad

        return PreparedLlamaLoad(entry, self._fitting(), self._advise, self._ready)

    def judge(self, entry: ModelEntry, load_options: LoadOptions, cancel: CancelToken) -> FitReport:
        """Estimate whether the model fits into memory, without loading it."""
        from app.models.library.services.fitting import projector_file
        from engines.models.gguf.header import read_header

        header = read_header(entry.path)
        projector = projector_file(entry.projector)
        return self._fitting().report(
            entry.path, header, load_options, entry.drafter, cancel, projector
        )


class RemoteLoader(EngineLoader[OutsideEngine[ServedPlan]]):
    """Prepares models on other servers; they take none of this computer's memory.

    Others use the server too, so `at_once` limits the answers that one person requests at a time to
    as many as can be read.
    """

    local = False
    at_once: int | None = 4

    def open(self, entry: ModelEntry) -> PreparedLoad[ServedPlan]:
        """Return a load that needs nothing of this computer."""
        return _RemoteLoad(entry)

    def judge(
        self, entry: ModelEntry, _load_options: LoadOptions, _cancel: CancelToken
    ) -> FitReport:
        """Refuse: a model on a server needs no memory of this computer. Raises NotAModel."""
        raise NotAModel(
            N_("“{name}” needs no memory of this computer.", name=entry.name),
            N_("It runs on another server."),
            N_("Ask whoever runs that server what fits there."),
        )

    def context(self, entry: ModelEntry, load_options: LoadOptions) -> int | None:
        """Return the context in tokens: as chosen, or as the server reports it."""
        return load_options.context or entry.context

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """Pass this on to the engine; only a request shows whether the server still answers."""
        self.engine.revive(progress, cancel)

    def well(self) -> bool:
        """Return whether the engine can answer."""
        return self.engine.is_healthy


class _RemoteLoad(PreparedLoad[ServedPlan]):
    """A model on another server, to be planned."""

    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry

    def plan(self, load_options: LoadOptions, _cancel: CancelToken) -> ServedPlan:
        """Return a plan; a context of 0 means the server's own."""
        return ServedPlan(self._entry.server, self._entry.served, context=load_options.context or 0)
