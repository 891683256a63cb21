"""Finding a model on the Hub and getting it, for the window."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QObject, Signal

from app.core.errors import HubUnreadable, KeyringBroken
from app.core.models.downloads import Download, Wanted
from app.core.models.hub import Query, Variant
from app.core.models.offers import Beside, Choice, Judged, Offer, Opened
from app.core.models.quantisations import same_label
from app.core.models.wanted import wanted, wanted_file
from app.hub.client import Hub
from app.presenters.latest import Latest
from app.presenters.memory_uses import share_on_cards, uses_of
from app.presenters.settings import SettingsService
from app.presenters.tasks import Tasks
from app.presenters.telling import telling
from app.services.downloads.queue import DownloadQueue
from app.services.engines.load_options import load_options_of
from app.services.models.choices import choices_of, most_parameters
from app.services.models.fitting import Fitting
from app.services.tokens import HUB, Tokens
from engines.errors import UserError
from engines.hardware import Hardware
from engines.models.gguf.header import read_header

_log = logging.getLogger(__name__)

SEARCH = "hub-search"
PAGES = "hub-pages"
FITTING = "fitting"


class Discover(QObject):
    """Every wish is answered by one of two signals; errors are in three parts.

    search: found(list of Found) or not_found(error); only the last search counts.
    open: opened(Opened), then card(repo, markdown); or not_opened(error).
    judge: judged(Judged) or not_judged(repo, label, error).
    get, get_offer: queued(Download) or not_queued(repo, label, error).
    crashed(error): a bug of ours, told besides.
    """

    found = Signal(object)
    not_found = Signal(Exception)
    opened = Signal(object)
    not_opened = Signal(Exception)
    card = Signal(str, str)
    judged = Signal(object)
    not_judged = Signal(str, str, Exception)
    queued = Signal(object)
    not_queued = Signal(str, str, Exception)
    crashed = Signal(Exception)

    def __init__(
        self,
        hub: Hub,
        queue: DownloadQueue,
        fitting: Fitting,
        tokens: Tokens,
        settings: SettingsService,
        hardware: Callable[[], Hardware],
        address: Callable[[], str],
        headers: Path,
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        """address: of the Hub, without a slash at its end. headers: a folder for files' headers."""
        super().__init__(parent)
        self._hub = hub
        self._queue = queue
        self._fitting = fitting
        self._tokens = tokens
        self._settings = settings
        self._hardware = hardware
        self._address = address
        self._headers = headers
        self._tasks = tasks
        self._searches = Latest(tasks, SEARCH)
        self._pages = Latest(tasks, PAGES)
        self._cards = Latest(tasks, PAGES)
        self._judging = Latest(tasks, FITTING)

    def page(self, path: str) -> str:
        """The address of a repository's page, or of another page of the Hub."""
        return f"{self._address()}/{path}"

    def search(self, query: Query, *, fits: bool) -> None:
        """Search the Hub. fits: leave out what is too large for this computer."""

        def work() -> object:
            asked = query
            if fits:
                asked = replace(query, most_parameters=most_parameters(_memory(self._hardware())))
            return self._hub.search(asked)

        self._searches.run(work, self.found.emit, self._telling(self.not_found.emit))

    def open(self, repo: str) -> None:
        """Look at a repository; its card follows."""

        def work() -> Opened:
            repository = self._hub.repository(repo)
            return Opened(
                repository,
                choices_of(repository, self._fitting.quick),
                repository.gate != "open" and self._has_token(),
            )

        def done(opened: Opened) -> None:
            self.opened.emit(opened)
            self._cards.run(
                lambda: self._hub.card(opened.repository),
                lambda text: self.card.emit(opened.repository.id, text),
                self._telling(lambda _: self.card.emit(opened.repository.id, "")),
            )

        self._judging.forget()
        self._cards.forget()
        self._pages.run(work, done, self._telling(self.not_opened.emit))

    def judge(self, opened: Opened, choice: Choice) -> None:
        """Work out exactly what a choice takes, from the headers of its files."""
        repository, load_options = opened.repository, load_options_of(self._settings.current)

        def header_of(variant: Variant) -> Path:
            return self._hub.headers(repository, variant, self._headers)

        def work() -> Judged:
            model = header_of(choice.variant)
            header = read_header(model)
            drafter, projector = (
                header_of(Variant("", (file,))) if file is not None else None
                for file in (choice.drafter, choice.projector)
            )
            report = self._fitting.report(model, header, load_options, drafter, projector)
            fit, share = report.fit, share_on_cards(report.plan, header)
            return Judged(
                repository.id,
                choice.variant.label,
                fit.verdict,
                uses_of(fit.parts, share, fit.have_bytes, self._hardware()),
                " ".join(report.sentences[:2]) or fit.reason,
                report.exact,
            )

        def failed(error: UserError) -> None:
            self.not_judged.emit(repository.id, choice.variant.label, error)

        self._judging.run(work, self.judged.emit, self._telling(failed))

    def get(self, opened: Opened, choice: Choice) -> None:
        """Download a choice with all that belongs to it."""
        repository = opened.repository
        self._add(
            repository.id,
            choice.variant.label,
            lambda: self._queue.add(wanted(repository, choice)),
        )

    def get_offer(self, offer: Offer) -> None:
        """Download a recommended model: what its repository has of it now."""

        def work() -> Download:
            repository = self._hub.repository(offer.repo)
            choice = next(
                (
                    it
                    for it in choices_of(repository, self._fitting.quick)
                    if same_label(it.variant.label, offer.label)
                ),
                None,
            )
            if choice is None:
                raise HubUnreadable(
                    f"{offer.repo} has no {offer.label}.",
                    "Its owner has changed what is there since Hearth’s list was made.",
                    "Open its page under “Details” and choose another size.",
                )
            others = [
                self._file_of(beside)
                for there, beside in (
                    (choice.drafter, offer.drafter),
                    (choice.projector, offer.projector),
                )
                if there is None and beside is not None
            ]
            download = self._queue.add(wanted(repository, choice))
            for other in others:
                if other is not None:
                    self._queue.add(other)
            return download

        self._add(offer.repo, offer.label, work)

    def _file_of(self, beside: Beside) -> Wanted | None:
        """A file of another repository; a model is not refused for what only helps it."""
        repository = self._hub.repository(beside.repo)
        for file in repository.files:
            if fnmatchcase(PurePosixPath(file.path).name, beside.pattern):
                return wanted_file(repository, file)
        _log.warning("%s has no %s any more", beside.repo, beside.pattern)
        return None

    def _has_token(self) -> bool:
        """A keyring that does not answer says so when a token is given."""
        try:
            return self._tokens.status(HUB).present
        except KeyringBroken:
            return False

    def _add(self, repo: str, label: str, work: Callable[[], Download]) -> None:
        def failed(error: UserError) -> None:
            self.not_queued.emit(repo, label, error)

        self._tasks.run(work, self.queued.emit, self._telling(failed), on=PAGES)

    def _telling(self, tell: Callable[[UserError], object]) -> Callable[[Exception], None]:
        return telling(tell, self.crashed.emit)


def _memory(hardware: Hardware) -> int:
    """What a model may take at most: all that is free, on cards and in the computer's memory."""
    cards = sum(gpu.free_bytes or 0 for gpu in hardware.gpus if gpu.usable and not gpu.integrated)
    return hardware.memory.available_bytes + cards
