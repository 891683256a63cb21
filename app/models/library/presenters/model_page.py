"""The page of one model: details, fit, verification, name and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.base.errors import ModelNotOurs
from app.kit.tasks.latest import Latest
from app.kit.tasks.tasks import STORE, Failed, Task, Tasks
from app.models.library.presenters.memory_uses import uses_of
from app.models.library.services.details import details
from app.models.library.services.library import Library
from app.models.library.services.load_options import load_options_of
from app.models.library.services.manager import ModelManager
from app.models.library.values.details import CheckedModel, ModelDetails
from app.models.library.values.entry import ModelEntry
from app.models.library.values.memory_use import Fits, MemoryUse
from app.settings.presenters import SettingsService
from app.settings.values.models import MODEL_SETTINGS, builtin_settings, effective
from engines.cancel import CancelToken
from engines.errors import EngineError, UserError
from engines.hardware import Hardware
from engines.sentences import joined

if TYPE_CHECKING:
    from app.models.library.services.fitting import FitReport
    from engines.memory.load_options import LoadOptions

    Judge = Callable[[ModelEntry, LoadOptions], FitReport]
    """Returns whether a model would fit this computer now."""

PAGE = "model-page"
FITTING = "fitting"
CHECKING = "checking"


@dataclass(frozen=True)
class Removable:
    """The ways in which a model can be removed.

    Attributes:
        off_list: Whether it can leave the list while its file stays.
        frees: Bytes that the disk would gain once its files were deleted from the trash; None if
            they cannot move there.
        files: The files that would move to the trash.
        why_not: Why its files cannot move to the trash; empty if they can.
    """

    off_list: bool
    frees: int | None
    files: tuple[Path, ...] = ()
    why_not: str = ""


@dataclass(frozen=True)
class ShownModel:
    """A model as its page shows it.

    Attributes:
        details: None if its file cannot be read; `problem` then says why.
        own: The model's own settings.
        general: The values that apply where it has none of its own.
        draft_models: Models on this computer that could draft for it.
    """

    entry: ModelEntry
    details: ModelDetails | None
    problem: UserError | None
    own: Mapping[str, object]
    general: Mapping[str, object]
    removable: Removable
    draft_models: tuple[ModelEntry, ...] = ()


@dataclass(frozen=True)
class FitVerdict:
    """The verdict on whether a model fits at the moment.

    Attributes:
        sentences: Explanations, the most important first.
        exact: Whether llama.cpp itself gave the figures.
    """

    id: str
    fits: Fits
    uses: tuple[MemoryUse, ...]
    sentences: tuple[str, ...]
    exact: bool


class ModelPage(QObject):
    """The actions of a model's page: details, fit, verification, name and settings.

    Each method calls `done` with the result or `failed` with the error.
    """

    _share = Signal(object, float)

    def __init__(
        self,
        library: Library,
        manager: ModelManager,
        judge: Judge,
        settings: SettingsService,
        hardware: Callable[[], Hardware],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._manager = manager
        self._judge = judge
        self._settings = settings
        self._hardware = hardware
        self._tasks = tasks
        self._pages = Latest(tasks, PAGE)
        self._judging = Latest(tasks, FITTING)
        self._check: Task | None = None
        self._share.connect(lambda progress, share: progress(share))

    def open(self, model: str, done: Callable[[ShownModel], object], failed: Failed) -> None:
        """Read a model's file; only the latest request is answered."""
        settings = self._settings.current

        def work() -> ShownModel:
            entry = self._library.find(model)
            general = effective(settings, builtin_settings(builtin=entry.builtin))
            model_details, problem = None, None
            try:
                model_details = details(self._library, model)
            except EngineError as error:
                problem = error
            return ShownModel(
                entry,
                model_details,
                problem,
                self._library.settings_of(entry),
                {name: getattr(general, name) for name in MODEL_SETTINGS},
                removable(self._manager, entry),
                tuple(self._library.draft_models(entry)),
            )

        self._pages.run(work, done, failed)

    def judge(self, model: str, done: Callable[[FitVerdict], object], failed: Failed) -> None:
        """Compute the exact memory need of a model, loaded with its settings."""
        settings = self._settings.current

        def work() -> FitVerdict:
            entry = self._library.find(model)
            effective_settings = self._library.effective(entry, settings)
            report = self._judge(entry, load_options_of(effective_settings, entry.engine))
            fit = report.fit
            uses = uses_of(fit.parts, report.share, fit.have_bytes, self._hardware())
            return FitVerdict(
                model, fit.verdict, uses, report.sentences or (fit.reason,), report.exact
            )

        self._judging.run(work, done, failed)

    def verify(
        self,
        model: str,
        progress: Callable[[float], object],
        done: Callable[[CheckedModel], object],
        failed: Failed,
    ) -> None:
        """Compare every byte of a model with its expected checksum.

        Args:
            progress: Receives the share that was read, from 0.0 to 1.0.
            failed: Receives the error; after `stop` it is Cancelled.
        """
        last = -1

        def read(share: float) -> None:
            nonlocal last
            if round(share * 200) != last:
                last = round(share * 200)
                self._share.emit(progress, share)

        def work(cancel: CancelToken) -> Iterator[CheckedModel]:
            yield self._manager.verify(model, read, cancel)

        # The result is reported at the end, because a batch can arrive before the last progress.
        results: list[CheckedModel] = []
        self._check = self._tasks.stream(
            work, results.extend, lambda: done(results[0]), failed, on=CHECKING
        )

    def stop(self) -> None:
        """Stop the verification that is under way."""
        if self._check is not None:
            self._check.cancel()

    def rename(
        self, model: str, name: str, done: Callable[[ModelEntry], object], failed: Failed
    ) -> None:
        """Give a model another name; `done` receives it as listed now."""
        self._tasks.run(lambda: self._manager.rename(model, name), done, failed, on=STORE)

    def set(
        self,
        model: str,
        name: str,
        value: object,
        done: Callable[[Mapping[str, object]], object],
        failed: Failed,
    ) -> None:
        """Set a value for this model only; None follows the app's settings again.

        Args:
            done: Receives all of the model's own settings.
        """
        self._tasks.run(lambda: self._manager.set(model, name, value), done, failed, on=STORE)


def removable(manager: ModelManager, entry: ModelEntry) -> Removable:
    """Return how a model can be removed.

    Raises:
        ModelUnknown: The model is not on the list.
    """
    try:
        stays = entry.source == "added" and not manager.removal(entry.id).trash
        removal = manager.removal(entry.id, with_file=True)
    except ModelNotOurs as error:
        return Removable(off_list=False, frees=None, why_not=joined(" ", (error.why, error.do)))
    return Removable(stays, removal.frees, removal.trash)
