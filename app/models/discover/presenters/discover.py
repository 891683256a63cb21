"""The search for models on the Hub and their download, for the window."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from app.base.errors import HubUnreadable, KeyringBroken
from app.base.tokens import HUB, Tokens
from app.kit.tasks.latest import Latest
from app.kit.tasks.tasks import Failed, Tasks
from app.models.discover.services.choices import choices_of, most_parameters
from app.models.discover.services.projectors import Projectors
from app.models.discover.values.offers import (
    Choice,
    ChoiceVerdict,
    CompanionFile,
    Offer,
    OpenedRepository,
)
from app.models.downloads.services.queue import DownloadQueue
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.downloads.values.requests import choice_request, file_request
from app.models.hub.client import Hub
from app.models.hub.repository import choose
from app.models.hub.values.hub import Query, RepoFile, Repository, SearchResult, Variant
from app.models.library.presenters.memory_uses import uses_of
from app.models.library.services.fitting import Fitting
from app.models.library.services.load_options import load_options_of
from app.models.library.values.entry import ModelEntry
from app.models.library.values.quantisations import same_label
from app.settings.presenters import SettingsService
from engines.hardware import Hardware
from engines.models.gguf.header import read_header
from engines.sentences import N_, joined

_log = logging.getLogger(__name__)

SEARCH = "hub-search"
PAGES = "hub-pages"
FITTING = "fitting"


class Discover:
    """Finds models on the Hub and downloads them.

    Each method calls `done` with the result or `failed` with the error.

    Args:
        address: Returns the Hub's address, without a slash at its end.
        headers: The folder for headers of models' files.
    """

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
        projectors: Projectors,
        tasks: Tasks,
    ) -> None:
        self._hub = hub
        self._queue = queue
        self._fitting = fitting
        self._tokens = tokens
        self._settings = settings
        self._hardware = hardware
        self._address = address
        self._headers = headers
        self._projectors = projectors
        self._tasks = tasks
        self._searches = Latest(tasks, SEARCH)
        self._pages = Latest(tasks, PAGES)
        self._cards = Latest(tasks, PAGES)
        self._judging = Latest(tasks, FITTING)

    def page(self, path: str) -> str:
        """Return the address of a repository's page, or of another page on the Hub."""
        return f"{self._address()}/{path}"

    def search(
        self,
        query: Query,
        *,
        fits: bool,
        done: Callable[[Sequence[SearchResult]], object],
        failed: Failed,
    ) -> None:
        """Search the Hub; only the latest search is answered.

        Args:
            fits: Whether to leave out models that are too large for this computer.
        """

        def work() -> Sequence[SearchResult]:
            narrowed = query
            if fits:
                narrowed = replace(
                    query, most_parameters=most_parameters(_memory(self._hardware()))
                )
            return self._hub.search(narrowed)

        self._searches.run(work, done, failed)

    def open(self, repo: str, done: Callable[[OpenedRepository], object], failed: Failed) -> None:
        """Describe a repository; only the latest request is answered."""

        def work() -> OpenedRepository:
            repository = self._hub.repository(repo)
            return OpenedRepository(
                repository,
                choices_of(repository, self._fitting.quick),
                repository.gate != "open" and self._has_token(),
                bool(choose(repository.files, repo).drafters),
            )

        self._judging.forget()
        self._cards.forget()
        self._pages.run(work, done, failed)

    def card(self, opened: OpenedRepository, done: Callable[[str], object], failed: Failed) -> None:
        """Read the README of a repository, as markdown."""
        self._cards.run(lambda: self._hub.card(opened.repository), done, failed)

    def judge(
        self,
        opened: OpenedRepository,
        choice: Choice,
        done: Callable[[ChoiceVerdict], object],
        failed: Failed,
    ) -> None:
        """Compute the exact memory need of a choice, from the headers of its files."""
        repository, load_options = opened.repository, load_options_of(self._settings.current)

        def header_of(variant: Variant) -> Path:
            return self._hub.headers(repository, variant, self._headers)

        def work() -> ChoiceVerdict:
            model = header_of(choice.variant)
            header = read_header(model)
            drafter = header_of(Variant("", (choice.drafter,))) if choice.drafter else None
            report = self._fitting.report(model, header, load_options, drafter)
            fit = report.fit
            return ChoiceVerdict(
                repository.id,
                choice.variant.label,
                fit.verdict,
                uses_of(fit.parts, report.share, fit.have_bytes, self._hardware()),
                joined(" ", report.sentences[:2]) or fit.reason,
                report.exact,
            )

        self._judging.run(work, done, failed)

    def get(
        self,
        opened: OpenedRepository,
        choice: Choice,
        done: Callable[[Download], object],
        failed: Failed,
        *,
        projector: bool = False,
    ) -> None:
        """Download a choice with its companion files.

        Args:
            projector: Whether to include its projector.
        """
        files = choice_request(opened.repository, choice, projector=projector)
        self._tasks.run(lambda: self._queue.add(files), done, failed, on=PAGES)

    def get_projector(
        self, entry: ModelEntry, done: Callable[[Download], object], failed: Failed
    ) -> None:
        """Download the projector of a model on this computer."""
        self._tasks.run(
            lambda: self._queue.add(self._projectors.wanted(entry)), done, failed, on=PAGES
        )

    def get_offer(
        self,
        offer: Offer,
        done: Callable[[Download], object],
        failed: Failed,
        *,
        projector: bool = False,
    ) -> None:
        """Download a recommended model, with the files that its repository has now.

        Args:
            projector: Whether to include its projector.
        """

        def work() -> Download:
            repository = self._hub.repository(offer.repo)
            choice = next(
                (
                    choice
                    for choice in choices_of(repository, self._fitting.quick)
                    if same_label(choice.variant.label, offer.label)
                ),
                None,
            )
            if choice is None:
                raise HubUnreadable(
                    N_("{repo} has no {label}.", repo=offer.repo, label=offer.label),
                    N_("Its owner has changed the files since Hearth’s list was made."),
                    N_("Open its page under “Details” and choose another size."),
                )
            companion, drafter = offer.drafter, None
            if companion is not None and companion.repo == offer.repo:
                matching = _matching_file(repository, companion.pattern)
                choice = replace(choice, drafter=matching or choice.drafter)
            elif companion is not None and choice.drafter is None:
                drafter = self._file_of(companion)
            download = self._queue.add(choice_request(repository, choice, projector=projector))
            if drafter is not None:
                self._queue.add(drafter)
            return download

        self._tasks.run(work, done, failed, on=PAGES)

    def _file_of(self, companion: CompanionFile) -> DownloadRequest | None:
        """Find a file in another repository.

        Returns:
            None if it is gone: the model is still downloaded without this helper.
        """
        repository = self._hub.repository(companion.repo)
        if file := _matching_file(repository, companion.pattern):
            return file_request(repository, file)
        _log.warning("%s has no %s any more", companion.repo, companion.pattern)
        return None

    def _has_token(self) -> bool:
        """Return whether there is a token.

        A keyring error counts as no token here; it is reported when the user enters one.
        """
        try:
            return self._tokens.status(HUB).present
        except KeyringBroken:
            return False


def _matching_file(repository: Repository, pattern: str) -> RepoFile | None:
    matching = (
        file for file in repository.files if fnmatchcase(PurePosixPath(file.path).name, pattern)
    )
    return next(matching, None)


def _memory(hardware: Hardware) -> int:
    """Return all free memory, of graphics cards and computer together, in bytes."""
    cards = sum(gpu.free_bytes or 0 for gpu in hardware.gpus if gpu.usable and not gpu.integrated)
    return hardware.memory.available_bytes + cards
