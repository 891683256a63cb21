"""Finds the projectors with which models see."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.base.errors import CatalogueInvalid, FileNotOnHub
from app.models.discover.values.offers import ProjectorOffer
from app.models.downloads.values.downloads import DownloadRequest
from app.models.downloads.values.requests import file_request
from app.models.hub.repository import choose
from app.models.hub.values.hub import RepoFile
from app.models.library.values.entry import ModelEntry
from app.models.library.values.quantisations import quantisation_of
from engines.sentences import N_

if TYPE_CHECKING:
    from app.models.discover.values.catalogue import Catalogue, File
    from app.models.hub.client import Hub

_log = logging.getLogger(__name__)


class Projectors:
    """Looks up projectors in the catalogue and in the repositories of models; Qt-free.

    Args:
        catalogue: Returns the catalogue; raises CatalogueInvalid if the user's own file cannot be
            used.
    """

    def __init__(self, catalogue: Callable[[], Catalogue], hub: Callable[[], Hub]) -> None:
        self._catalogue = catalogue
        self._hub = hub

    def offer(self, entry: ModelEntry) -> ProjectorOffer | None:
        """Return the projector that a model on this computer could have, without asking the Hub.

        Returns:
            None if the catalogue names none.
        """
        file = self.of_repo(entry.repo) if entry.repo is not None else None
        if file is None or entry.engine != "llamacpp":
            return None
        label = quantisation_of(entry.file or entry.path.name, entry.repo or "").label
        name = f"{entry.repo}:{label}" if label else f"{entry.repo}"
        return ProjectorOffer(name, round(file.gb.value * 1e9))

    def of_repo(self, repo: str) -> File | None:
        """Return the projector that the catalogue names for a repository's models; None if none."""
        try:
            sizes = self._catalogue().sizes.values()
        except CatalogueInvalid as error:
            _log.warning("the catalogue was not asked for a projector: %s", error)
            return None
        projectors = (
            size.projector for size in sizes if size.projector and repo in size.repositories
        )
        return next(projectors, None)

    def wanted(self, entry: ModelEntry) -> DownloadRequest:
        """Ask the Hub for the projector of a model on this computer, at the model's own commit.

        Raises:
            FileNotOnHub: The repository has no projector.
            The errors of the Hub.
        """
        repository = self._hub().repository(entry.repo or "", entry.revision or "main")
        chosen = choose(repository.files, repository.id)
        variants = [
            variant
            for variant in chosen.variants
            if any(file.path == entry.file for file in variant.files)
        ] or list(chosen.variants)
        projector: RepoFile | None = chosen.projector_for(variants[0]) if variants else None
        if projector is None:
            raise FileNotOnHub(
                N_("{id} has no projector.", id=repository.id),
                N_("Its owner has not published one, or has removed it."),
                N_("Choose another model that can see pictures."),
            )
        return file_request(repository, projector)
