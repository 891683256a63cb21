"""The protocol for loading models into engines, and llama.cpp's side of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from app.base.once import once
from app.models.library.values.entry import ModelEntry
from engines.base import Engine, Progress
from engines.cancel import CancelToken
from engines.models.format import Advise
from engines.models.pairing import mtp_advice
from engines.types import LoadedModel, LoadPlan

if TYPE_CHECKING:
    from app.models.library.services.fitting import FitReport, Fitting
    from engines.memory.load_options import LoadOptions


class PreparedLoad(Protocol):
    """A model to be loaded into an engine, whose files were checked.

    plan: for the memory that is free now. Raises EngineError (NotEnoughMemory, with the numbers)
    or Cancelled. learn: what the load has really taken, for the next time.
    """

    def plan(self, load_options: LoadOptions, cancel: CancelToken) -> LoadPlan: ...

    def learn(self, loaded: LoadedModel) -> None: ...


class EngineLoader(Protocol):
    """An engine and the loading of models into it. By one thread at a time, but for `well`.

    local: its model lies in this computer's memory, which such engines have to share. at_once: the
    most answers that it is asked for at a time; None leaves it to what is loaded.
    """

    local: bool
    at_once: int | None

    @property
    def engine(self) -> Engine:
        """The engine, made when first asked for, where that takes time."""
        ...

    def open(self, entry: ModelEntry) -> PreparedLoad:
        """Check a model's files, while another is still loaded. Raises EngineError."""
        ...

    def load(
        self,
        entry: ModelEntry,
        load: PreparedLoad,
        load_options: LoadOptions,
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        """Plan for the memory that is free now, and load. load: as `open` gave it.

        Raises EngineError or Cancelled.
        """
        ...

    def judge(self, entry: ModelEntry, load_options: LoadOptions, cancel: CancelToken) -> FitReport:
        """Tell whether a model would fit this computer now, without loading it.

        Raises EngineError, NotAModel for one that needs no memory here, or Cancelled.
        """
        ...

    def context(self, entry: ModelEntry, load_options: LoadOptions) -> int | None:
        """Tell the context that a load would have now, in tokens; None where that takes a load.

        0 is what nobody can tell.
        """
        ...

    def relevant(self, entry: ModelEntry, load_options: LoadOptions) -> LoadOptions:
        """Return the options without those that change nothing for this model.

        It is not loaded again for them.
        """
        ...

    def adapt(
        self, entry: ModelEntry, before: LoadOptions, after: LoadOptions, cancel: CancelToken
    ) -> bool:
        """Change what is loaded to other options without a new load; False where that cannot be.

        Raises EngineError.
        """
        ...

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """See that what was loaded still runs: a worker may have ended since.

        Raises EngineError or Cancelled; then nothing is loaded.
        """
        ...

    def settle(self) -> None:
        """Wait until the memory of what was unloaded is free for another engine's model.

        What stays for a later Hearth, and is used by nobody, ends before.
        """
        ...

    def leave(self) -> None:
        """Unload what is loaded, as Hearth ends; some of it may stay for the next one."""
        ...

    def well(self) -> bool:
        """Whether what was loaded still runs, as far as can be told at once."""
        ...


class LlamaLoader:
    """Loads models into llama.cpp, in this process.

    make, fitting: called when a model is loaded. advise: what to say of MTP where nothing drafts.
    ready: has the named devices tried before their first use, or all. Raises Cancelled.
    """

    local = True
    at_once: int | None = None

    def __init__(
        self,
        make: Callable[[], Engine],
        fitting: Callable[[], Fitting],
        advise: Advise = mtp_advice,
        ready: Callable[[tuple[str, ...], CancelToken], None] = lambda _devices, _cancel: None,
    ) -> None:
        self._make = make
        self._fitting = fitting
        self._advise = advise
        self._ready = ready

    @once
    def engine(self) -> Engine:
        return self._make()

    def open(self, entry: ModelEntry) -> PreparedLoad:
        from app.runtime.services.prepared_llama_load import PreparedLlamaLoad

        return PreparedLlamaLoad(entry, self._fitting(), self._advise, self._ready)

    def load(
        self,
        _entry: ModelEntry,
        load: PreparedLoad,
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
        """Do nothing: its memory is free as soon as the model is."""

    def leave(self) -> None:
        self.engine.close()

    def well(self) -> bool:
        return True
