"""The models in this computer's memory, for the window: loads and ejects them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.tasks import ENGINE, Task, Tasks
from app.models.library.services.library import Library
from app.models.library.services.load_options import load_options_of
from app.models.library.values.overview import LoadState
from app.runtime.services.runtime import Runtime
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.types import EngineName

_LOCAL: Final[tuple[EngineName, ...]] = ("llamacpp", "vllm")


class LoadedModels(QObject):
    """Loads and ejects models on their own, without an answer to give.

    Signals:
        changed(): A load or an ejection has begun or ended.
        failed(error): A load or an ejection failed.
    """

    changed = Signal()
    failed = Signal(Exception)

    def __init__(
        self, library: Library, runtime: Runtime, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._runtime = runtime
        self._tasks = tasks
        self._loading: dict[str, Task] = {}
        self._shares: dict[str, float] = {}
        self._ejecting: set[str] = set()

    def states(self) -> dict[str, LoadState]:
        """Return the state of each model that is in memory or being loaded, by model id."""
        loaded = (self._runtime.loaded_model(engine) for engine in _LOCAL)
        states: dict[str, LoadState] = {entry.id: "loaded" for entry in loaded if entry is not None}
        states |= dict.fromkeys(self._loading, "loading")
        return {**states, **dict.fromkeys(self._ejecting & states.keys(), "ejecting")}

    def shares(self) -> dict[str, float]:
        """Return the progress of the loads started here, 0.0 to 1.0, by model id."""
        return self._shares.copy()

    def load(self, model: str, settings: Settings) -> None:
        """Load a model with these settings, after the answers already in the queue."""
        if model in self._loading:
            return

        def work(cancel: CancelToken) -> Iterator[None]:
            entry = self._library.find(model)
            options = load_options_of(settings, entry.engine)
            self._runtime.lease(entry, options, progress, cancel).close()
            yield None

        def progress(share: float) -> None:
            self._shares[model] = share

        def over() -> None:
            del self._loading[model]
            self._shares.pop(model, None)
            self.changed.emit()

        def broke(error: Exception) -> None:
            over()
            if not isinstance(error, Cancelled):
                self.failed.emit(error)

        self._loading[model] = self._tasks.stream(work, lambda _: None, over, broke, on=ENGINE)
        self.changed.emit()

    def eject(self, model: str) -> None:
        """Unload a model after the answers already in the queue, or cancel its loading."""
        if model in self._loading:
            self._loading[model].cancel()
            return
        engine = next((name for name in _LOCAL if self._is_loaded(name, model)), None)
        if engine is None or model in self._ejecting:
            return

        def work() -> None:
            if self._is_loaded(engine, model):
                self._runtime.stop(engine)

        def done(_: None) -> None:
            self._ejecting.discard(model)
            self.changed.emit()

        def broke(error: Exception) -> None:
            done(None)
            self.failed.emit(error)

        self._ejecting.add(model)
        self._tasks.run(work, done, broke, on=ENGINE)
        self.changed.emit()

    def _is_loaded(self, engine: EngineName, model: str) -> bool:
        loaded = self._runtime.loaded_model(engine)
        return loaded is not None and loaded.id == model
