"""Finds the projectors with which models see, where they can be had."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from app.base.errors import CatalogueInvalid, FileNotOnHub
from app.models.discover.values.offers import ProjectorOffer
from app.models.downloads.values.downloads import Wanted
from app.models.downloads.values.wanted import wanted_file
from app.models.hub.repository import choose
from app.models.hub.values.hub import RepoFile, Repository
from app.models.library.values.entry import ModelEntry
from app.models.library.values.quantisations import quantisation_of

if TYPE_CHECKING:
    from app.models.discover.values.catalogue import Catalogue, File

_log = logging.getLogger(__name__)


class AsksForRepository(Protocol):
    """Asks the Hub for the files of a repository; raises what `HubClient.repository` raises."""

    def repository(self, repo: str, revision: str = "main") -> Repository: ...


class Projectors:
    """Looks projectors up in the catalogue, and in the repositories of models. Qt-free.

    catalogue: raises CatalogueInvalid where the user's own file cannot be used.
    """

    def __init__(
        self, catalogue: Callable[[], Catalogue], hub: Callable[[], AsksForRepository]
    ) -> None:
        self._catalogue = catalogue
        self._hub = hub

    def offer(self, entry: ModelEntry) -> ProjectorOffer | None:
        """Return the projector that a model here could have; by the catalogue, nothing is asked."""
        file = self.of_repo(entry.repo) if entry.repo is not None else None
        if file is None or entry.engine != "llamacpp":
            return None
        label = quantisation_of(entry.file or entry.path.name, entry.repo or "").label
        name = f"{entry.repo}:{label}" if label else f"{entry.repo}"
        return ProjectorOffer(name, round(file.gb.value * 1e9))

    def of_repo(self, repo: str) -> File | None:
        """Return the projector that the catalogue names for the models of a repository."""
        try:
            sizes = self._catalogue().sizes.values()
        except CatalogueInvalid as error:
            _log.warning("the catalogue was not asked for a projector: %s", error)
            return None
        found = (it.projector for it in sizes if it.projector and repo in it.repositories)
        return next(found, None)

    def wanted(self, entry: ModelEntry) -> Wanted:
        """Ask the Hub for the projector of a model here, at the commit that the model is of.

        Raises FileNotOnHub, and what the Hub raises.
        """
        repository = self._hub().repository(entry.repo or "", entry.revision or "main")
        chosen = choose(repository.files, repository.id)
        mine = [
            it for it in chosen.variants if any(file.path == entry.file for file in it.files)
        ] or list(chosen.variants)
        found: RepoFile | None = chosen.projector_for(mine[0]) if mine else None
        if found is None:
            raise FileNotOnHub(
                f"{repository.id} has no projector.",
                "Its owner has put none there, or has taken it away.",
                "Choose another model that sees.",
            )
        return wanted_file(repository, found)
