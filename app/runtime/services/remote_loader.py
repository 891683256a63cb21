"""The loader for models on other servers: loads nothing on this computer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.base.once import once
from app.models.library.values.entry import ModelEntry
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import NotAModel
from engines.memory.load_options import LoadOptions
from engines.sentences import N_
from engines.types import LoadedModel, LoadPlan

if TYPE_CHECKING:
    from app.models.library.services.fitting import FitReport
    from app.runtime.services.loaders import PreparedLoad
    from engines.remote.engine import RemoteEngine


class RemoteLoads:
    """Prepares models on other servers.

    Others use the server too, so `at_once` limits the answers that one person requests at a time to
    as many as can be read.
    """

    local = False
    at_once: int | None = 4

    def __init__(self, make: Callable[[], RemoteEngine]) -> None:
        """Create the loader.

        Args:
            make: Creates the engine; called once, when it is first needed.
        """
        self._make = make

    @once
    def engine(self) -> RemoteEngine:
        return self._make()

    def open(self, entry: ModelEntry) -> _RemoteLoad:
        return _RemoteLoad(entry)

    def load(
        self,
        _entry: ModelEntry,
        load: PreparedLoad,
        load_options: LoadOptions,
        progress: Progress,
        cancel: CancelToken,
    ) -> LoadedModel:
        return self.engine.load(load.plan(load_options, cancel), progress, cancel)

    def judge(
        self, entry: ModelEntry, _load_options: LoadOptions, _cancel: CancelToken
    ) -> FitReport:
        raise NotAModel(
            N_("“{name}” needs no memory of this computer.", name=entry.name),
            N_("It runs on another server."),
            N_("Ask whoever runs that server what fits there."),
        )

    def context(self, entry: ModelEntry, load_options: LoadOptions) -> int | None:
        return load_options.context or entry.context

    def relevant(self, _entry: ModelEntry, load_options: LoadOptions) -> LoadOptions:
        return load_options

    def adapt(
        self, _entry: ModelEntry, _before: LoadOptions, _after: LoadOptions, _cancel: CancelToken
    ) -> bool:
        return False

    def revive(self, progress: Progress, cancel: CancelToken) -> None:
        """Pass this on to the engine; only a request shows whether the server still answers."""
        self.engine.revive(progress, cancel)

    def settle(self) -> None:
        """Do nothing: it uses none of this computer's memory."""

    def leave(self) -> None:
        self.engine.close()

    def well(self) -> bool:
        return self.engine.well


class _RemoteLoad:
    """A model on another server, to be planned."""

    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry

    def plan(self, load_options: LoadOptions, _cancel: CancelToken) -> LoadPlan:
        """Return a plan; a context of 0 means the server's own."""
        return LoadPlan(
            model=Path(self._entry.served),
            context=load_options.context or 0,
            threads=0,
            batch_threads=0,
            draft_max=0,
            server=self._entry.server,
            served=self._entry.served,
        )

    def learn(self, loaded: LoadedModel) -> None:
        """Do nothing: it uses none of this computer's memory."""
