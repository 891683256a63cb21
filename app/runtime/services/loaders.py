"""The protocol for loading models into engines, and its implementation for llama.cpp."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from app.base.once import once
from app.models.library.values.entry import ModelEntry
from engines.base import Engine, LoadingEngine, Progress
from engines.cancel import CancelToken
from engines.models.format import Advise
from engines.models.pairing import mtp_advice
from engines.types import LlamaPlan, LoadedModel

if TYPE_CHECKING:
    from app.models.library.services.fitting import FitReport, Fitting
    from engines.memory.load_options import LoadOptions


Plan = TypeVar("Plan")
Plan_co = TypeVar("Plan_co", covariant=True)


class PreparedLoad(Protocol[Plan_co]):
    """A model to load into an engine; its files have been checked.

    `plan` plans for the memory that is free now; it raises Cancelled, and EngineError
    (NotEnoughMemory, with the numbers). `learn` records what the load really took, for the next
    time.
    """

    def plan(self, load_options: LoadOptions, cancel: CancelToken) -> Plan_co: ...

    def learn(self, loaded: LoadedModel) -> None: ...


class EngineLoader(Protocol[Plan]):
    """An engine and the loading of models into it.

    All methods except `well` are called by one thread at a time.

    Attributes:
        local: Its model is in this computer's memory, which such engines share.
        at_once: Maximum number of answers at a time; None leaves it to the loaded model.
    """

    local: bool
    at_once: int | None

    @property
    def engine(self) -> Engine:
        """The engine, created on first use if that takes time."""
        ...

    def open(self, entry: ModelEntry) -> PreparedLoad[Plan]:
        """Check a model's files, while another model is still loaded. Raises EngineError."""
        ...

    def load(
        self,
        entry: ModelEntry,
        load: PreparedLoad[Plan],
        load_options: LoadOptions,
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        """Plan for the memory that is free now, and load.

        Args:
            load: The result of `open`.

        Raises:
            EngineError: The model cannot be loaded.
            Cancelled: `cancel` was called.
        """
        ...

    def judge(self, entry: ModelEntry, load_options: LoadOptions, cancel: CancelToken) -> FitReport:
        """Return whether a model would fit this computer now, without loading it.

        Raises:
            EngineError: It cannot be judged.
            NotAModel: The model needs no memory here.
            Cancelled: `cancel` was called.
        """
        ...

    def context(self, entry: ModelEntry, load_options: LoadOptions) -> int | None:
        """Return the context that a load would have now, in tokens.

        None if only a load can tell; 0 if nothing can.
        """
        ...

    def relevant(self, entry: ModelEntry, load_options: LoadOptions) -> LoadOptions:
        """Return the options without those that have no effect on this model.

        A change of the dropped options does not cause another load.
        """
        ...

    def adapt(
        self, entry: ModelEntry, before: LoadOptions, after: LoadOptions, cancel: CancelToken
    ) -> bool:
        """Change the options of the loaded model without a new load.

        Returns:
            False if that is not possible.

        Raises:
            EngineError: The change failed.
        """
        ...

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """Make sure that the loaded model still runs: its worker can have ended.

        Raises EngineError or Cancelled; then nothing is loaded.
        """
        ...

    def settle(self) -> None:
        """Wait until the memory of an unloaded model is free for another engine's model.

        First, end workers that stay for a later Hearth and that nobody uses.
        """
        ...

    def leave(self) -> None:
        """Unload the model as Hearth ends; a worker can stay for the next Hearth."""
        ...

    def well(self) -> bool:
        """Return whether the loaded model still runs, as far as is known without waiting."""
        ...


class LlamaLoader:
    """Loads models into llama.cpp in this process."""

    local = True
    at_once: int | None = None

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
        self._make = make
        self._fitting = fitting
        self._advise = advise
        self._ready = ready

    @once
    def engine(self) -> LoadingEngine[LlamaPlan]:
        return self._make()

    def open(self, entry: ModelEntry) -> PreparedLoad[LlamaPlan]:
        from app.runtime.services.prepared_llama_load import PreparedLlamaLoad

        return PreparedLlamaLoad(entry, self._fitting(), self._advise, self._ready)

    def load(
        self,
        _entry: ModelEntry,
        load: PreparedLoad[LlamaPlan],
        load_options: LoadOptions,
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        return self.engine.load(load.plan(load_options, cancel), progress, cancel)

    def judge(self, entry: ModelEntry, load_options: LoadOptions, cancel: CancelToken) -> FitReport:
        from app.models.library.services.fitting import projector_file
        from engines.models.gguf.header import read_header

        header = read_header(entry.path)
        projector = projector_file(entry.projector)
        return self._fitting().report(
            entry.path, header, load_options, entry.drafter, cancel, projector
        )

    def context(self, _entry: ModelEntry, load_options: LoadOptions) -> int | None:
        return load_options.context

    def relevant(self, _entry: ModelEntry, load_options: LoadOptions) -> LoadOptions:
        return load_options

    def adapt(
        self, _entry: ModelEntry, _before: LoadOptions, _after: LoadOptions, _cancel: CancelToken
    ) -> bool:
        return False

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """Do nothing: it lives and ends with Hearth."""

    def settle(self) -> None:
        """Do nothing: its memory is free as soon as the model is unloaded."""

    def leave(self) -> None:
        self.engine.close()

    def well(self) -> bool:
        return True
