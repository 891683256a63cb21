"""What the runtime asks of each engine before a load, and llama.cpp's answer to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from app.core.models.entry import ModelEntry
from app.core.once import once
from app.services.models.mtp_advice import Advise
from engines.base import Engine, Progress
from engines.cancel import CancelToken
from engines.models.pairing import mtp_advice
from engines.types import LoadedModel, LoadPlan

if TYPE_CHECKING:
    from app.services.models.fitting import Fitting
    from engines.memory.load_options import LoadOptions


class PreparedLoad(Protocol):
    """One model on its way into an engine; its files were looked at, and are what they should be.

    plan: for the memory that is free now. Raises EngineError (NotEnoughMemory, with the numbers)
    or Cancelled. learn: what the load has really taken, for the next time.
    """

    def plan(self, load_options: LoadOptions, cancel: CancelToken) -> LoadPlan: ...

    def learn(self, loaded: LoadedModel) -> None: ...


class EngineLoader(Protocol):
    """An engine, and how models get into it. Used by one thread at a time, but for `well`.

    local: its model lies in this computer's memory, which such engines have to share. at_once: the
    most answers that it is asked for at a time; None leaves it to what is loaded.
    """

    local: bool
    at_once: int | None

    @property
    def engine(self) -> Engine:
        """Made when it is first asked for, where that takes time."""
        ...

    def open(self, entry: ModelEntry) -> PreparedLoad:
        """Look at a model's files, with what is loaded still there. Raises EngineError."""
        ...

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """See that what was loaded is still there: a worker may have ended since.

        Raises EngineError or Cancelled; then nothing is loaded.
        """
        ...

    def settle(self) -> None:
        """Return when the memory of what was unloaded is free again, for another engine's model."""
        ...

    def well(self) -> bool:
        """Whether what was loaded is still there, as far as that can be told at once."""
        ...


class LlamaLoader:
    """llama.cpp in this process.

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
        from app.services.engines.llama_load import PreparedLlamaLoad

        return PreparedLlamaLoad(entry, self._fitting(), self._advise, self._ready)

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """It lives and ends with Hearth."""

    def settle(self) -> None:
        """Its memory is free as soon as the model is."""

    def well(self) -> bool:
        return True
