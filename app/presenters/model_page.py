"""One model of the list, for its page: details, fit, a check of its bytes, name and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.core.errors import ModelNotOurs
from app.core.models.entry import ModelEntry
from app.core.models.memory_use import MemoryUse
from app.core.models.offers import Fits
from app.core.settings.fields import Settings
from app.core.settings.models import OF_A_MODEL, effective, made_for
from app.presenters.latest import Latest
from app.presenters.memory_uses import share_on_cards, uses_of
from app.presenters.settings import SettingsService
from app.presenters.tasks import STORE, Task, Tasks
from app.presenters.telling import telling
from app.services.engines.load_options import load_options_of
from app.services.models.checkpoint_fit import fit_of
from app.services.models.details import ModelDetails, details
from app.services.models.fitting import Fitting
from app.services.models.library import Library
from app.services.models.manager import Checked, ModelManager
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError, UserError
from engines.hardware import Hardware
from engines.vllm.provision.lock import Profile

PAGE = "model-page"
FITTING = "fitting"
CHECKING = "checking"


@dataclass(frozen=True)
class Removable:
    """What may be done with a model that is not wanted any more.

    off_list: it can leave the list with its file staying. frees: bytes that its file would free
    in the trash; None if it may not go there, and `why_not` says why. files: that would go.
    """

    off_list: bool
    frees: int | None
    files: tuple[Path, ...] = ()
    why_not: str = ""


@dataclass(frozen=True)
class Shown:
    """A model as its page shows it. details: None if its file cannot be read: see `problem`.

    own: the settings for it alone. general: what holds where it has none of its own.
    """

    entry: ModelEntry
    details: ModelDetails | None
    problem: UserError | None
    own: Mapping[str, object]
    general: Mapping[str, object]
    removable: Removable


@dataclass(frozen=True)
class Fitted:
    """Whether a model fits now. exact: llama.cpp was asked. sentences: the most telling first."""

    id: str
    fits: Fits
    uses: tuple[MemoryUse, ...]
    sentences: tuple[str, ...]
    exact: bool


class ModelPage(QObject):
    """Every wish is answered by one of two signals; errors are UserErrors.

    open: shown(Shown), not_shown(error). judge: judged(Fitted), not_judged(id, error).
    verify: checking(id, share) as it goes, then checked(Checked), not_checked(id, error) or
    stopped(id). rename: renamed(ModelEntry), not_renamed(error). set: own(id, settings),
    refused(id, name, error). crashed(error): a bug of ours, told besides.
    """

    shown = Signal(object)
    not_shown = Signal(Exception)
    judged = Signal(object)
    not_judged = Signal(str, Exception)
    checking = Signal(str, float)
    checked = Signal(object)
    not_checked = Signal(str, Exception)
    stopped = Signal(str)
    renamed = Signal(object)
    not_renamed = Signal(Exception)
    own = Signal(str, object)
    refused = Signal(str, str, Exception)
    crashed = Signal(Exception)

    def __init__(
        self,
        library: Library,
        care: ModelManager,
        fitting: Fitting,
        settings: SettingsService,
        hardware: Callable[[], Hardware],
        tasks: Tasks,
        parent: QObject | None = None,
        vllm: Callable[[], Profile | None] = lambda: None,
    ) -> None:
        """vllm: which build of it is here."""
        super().__init__(parent)
        self._vllm = vllm
        self._library = library
        self._care = care
        self._fitting = fitting
        self._settings = settings
        self._hardware = hardware
        self._tasks = tasks
        self._pages = Latest(tasks, PAGE)
        self._judging = Latest(tasks, FITTING)
        self._check: Task | None = None

    def open(self, model: str) -> None:
        settings = self._settings.current

        def work() -> Shown:
            entry = self._library.find(model)
            general = effective(settings, made_for(entry))
            found, problem = None, None
            try:
                found = details(self._library, model)
            except EngineError as error:
                problem = error
            return Shown(
                entry,
                found,
                problem,
                self._library.settings_of(entry),
                {name: getattr(general, name) for name in OF_A_MODEL},
                removable(self._care, entry),
            )

        self._pages.run(work, self.shown.emit, telling(self.not_shown.emit, self.crashed.emit))

    def judge(self, model: str) -> None:
        """Work out exactly what the model takes, as its settings would have it loaded."""
        settings = self._settings.current

        def work() -> Fitted:
            entry = self._library.find(model)
            if entry.engine != "llamacpp":
                return self._judge_apart(entry, settings)
            header = self._library.header(entry)
            load_options = load_options_of(self._library.effective(entry, settings))
            report = self._fitting.report(
                entry.path, header, load_options, entry.drafter, entry.projector
            )
            fit, share = report.fit, share_on_cards(report.plan, header)
            uses = uses_of(fit.parts, share, fit.have_bytes, self._hardware())
            return Fitted(model, fit.verdict, uses, report.sentences or (fit.reason,), report.exact)

        def failed(error: UserError) -> None:
            self.not_judged.emit(model, error)

        self._judging.run(work, self.judged.emit, telling(failed, self.crashed.emit))

    def _judge_apart(self, entry: ModelEntry, settings: Settings) -> Fitted:
        """Of a checkpoint; a model on a server raises NotAModel."""
        load_options = load_options_of(self._library.effective(entry, settings), entry.engine)
        profile, hardware = self._vllm(), self._hardware()
        report = fit_of(entry, load_options, self._library.checkpoints, hardware, profile)
        fit = report.fit
        share = 0.0 if profile == "cpu" else 1.0
        uses = uses_of(fit.parts, share, fit.have_bytes, hardware)
        return Fitted(entry.id, fit.verdict, uses, report.sentences, report.exact)

    def verify(self, model: str) -> None:
        """Compare every byte of a model with what it should be; `stop` ends it."""
        last = -1

        def progress(share: float) -> None:
            nonlocal last
            if round(share * 200) != last:
                last = round(share * 200)
                self.checking.emit(model, share)

        def work(cancel: CancelToken) -> Iterator[Checked]:
            yield self._care.verify(model, progress, cancel)

        def failed(error: Exception) -> None:
            if isinstance(error, Cancelled):
                self.stopped.emit(model)
            else:
                telling(lambda known: self.not_checked.emit(model, known), self.crashed.emit)(error)

        # What came of it is told at the end: a batch may overtake how far it was just before.
        came: list[Checked] = []
        self._check = self._tasks.stream(
            work, came.extend, lambda: self.checked.emit(came[0]), failed, on=CHECKING
        )

    def stop(self) -> None:
        """End the check that is under way."""
        if self._check is not None:
            self._check.cancel()

    def rename(self, model: str, name: str) -> None:
        self._tasks.run(
            lambda: self._care.rename(model, name),
            self.renamed.emit,
            telling(self.not_renamed.emit, self.crashed.emit),
            on=STORE,
        )

    def set(self, model: str, name: str, value: object) -> None:
        """A setting for this model alone; None leaves it to the settings again."""

        def failed(error: UserError) -> None:
            self.refused.emit(model, name, error)

        self._tasks.run(
            lambda: self._care.set(model, name, value),
            lambda values: self.own.emit(model, values),
            telling(failed, self.crashed.emit),
            on=STORE,
        )


def removable(care: ModelManager, entry: ModelEntry) -> Removable:
    """What Hearth may do with a model. Raises ModelUnknown."""
    try:
        stays = entry.source == "added" and not care.removal(entry.id).trash
        removal = care.removal(entry.id, with_file=True)
    except ModelNotOurs as error:
        return Removable(off_list=False, frees=None, why_not=f"{error.why} {error.do}")
    return Removable(stays, removal.frees, removal.trash)
