"""Recommends models for this computer: examines it, measures it, and applies the rule."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.base.errors import CatalogueInvalid
from app.base.folder import read_file
from engines.cancel import CancelToken
from engines.disk import free_bytes
from engines.json_cache import JsonCache
from engines.sentences import N_

if TYPE_CHECKING:
    from app.models.discover.services.catalogue_refresh import RefreshResult, RepositoryBook
    from app.models.discover.values.catalogue import Catalogue
    from app.models.discover.values.recommend import Recommendation
    from app.models.hub.client import Hub
    from app.models.library.values.entry import ModelEntry
    from engines.hardware import Hardware

_MOST_BYTES: Final = 64_000_000
"""The largest catalogue file allowed; Hearth's own is a thousand times smaller."""
_SEEN: Final = "seen"


class Recommending:
    """Recommends models on request; the first time, it measures for a third of a second.

    Args:
        shipped: Hearth's own catalogue.
        folder: The data folder. Its catalogue.json can change the catalogue; catalogue-sizes.json,
            catalogue-seen.json and bandwidth.json store what was learnt.
        models: Returns the folder for downloaded models, to check its disk; it need not exist yet.
    """

    def __init__(
        self,
        shipped: Path,
        folder: Path,
        models: Callable[[], Path],
        hardware: Callable[[], Hardware],
        hub: Callable[[], Hub],
    ) -> None:
        self._shipped = shipped
        self._extension = folder / "catalogue.json"
        self._folder = folder
        self._seen = JsonCache(folder / "catalogue-seen.json")
        self._models = models
        self._hardware = hardware
        self._hub = hub

    @cached_property
    def _known_repositories(self) -> RepositoryBook:
        from app.models.discover.services.catalogue_refresh import RepositoryBook

        return RepositoryBook(self._folder / "catalogue-sizes.json")

    def catalogue(self) -> Catalogue:
        """Read the catalogue.

        Raises:
            CatalogueInvalid: The user's own file cannot be used.
        """
        from app.models.discover.values.catalogue import load_catalogue

        return load_catalogue(
            self._shipped.read_text(encoding="utf-8"), self._own_text(), str(self._extension)
        )

    def unseen_models(self) -> frozenset[str]:
        """Return the ids of models that are new in the catalogue since the user last looked.

        Returns:
            An empty set if the user has never looked, as then nothing is news.

        Raises:
            CatalogueInvalid: The user's own file cannot be used.
        """
        seen = self._seen_models()
        return frozenset(self.catalogue().sizes.keys() - seen) if seen else frozenset()

    def mark_seen(self, ids: Collection[str]) -> None:
        """Remember that the user has seen models of the catalogue."""
        before = self._seen_models()
        if not before.issuperset(ids):
            self._seen.write({_SEEN: sorted(before.union(ids))})

    def advised_depth(self, entry: ModelEntry) -> int | None:
        """Return the number of draft tokens that a model's makers advise for vLLM."""
        from app.models.discover.values.counterparts import advised_depth

        try:
            return advised_depth(entry, self.catalogue())
        except CatalogueInvalid:
            return None  # Discover shows this error, with what to do

    def recommend(self) -> Recommendation:
        """Recommend models for this computer in its current state.

        Raises:
            CatalogueInvalid: The user's own file cannot be used.
        """
        from app.models.discover.values.catalogue_sizes import known_sizes
        from app.models.discover.values.recommend import recommend
        from engines.hardware.bandwidth import BandwidthBook

        catalogue = self.catalogue()
        hardware = self._hardware()
        return recommend(
            hardware,
            catalogue,
            BandwidthBook(self._folder / "bandwidth.json").of(hardware),
            known_sizes(catalogue, self._known_repositories.read().repositories),
            free_bytes(self._models()),
        )

    def refresh(
        self, cancel: CancelToken, progress: Callable[[float], None] = lambda _: None
    ) -> RefreshResult:
        """Ask the Hub for the real sizes and hashes.

        Raises:
            CatalogueInvalid: The user's own file cannot be used.
        """
        from app.models.discover.services.catalogue_refresh import refresh
        from app.models.discover.values.catalogue_sizes import repositories

        return refresh(
            self._hub(), repositories(self.catalogue()), self._known_repositories, cancel, progress
        )

    def _seen_models(self) -> frozenset[str]:
        ids = self._seen.read().get(_SEEN)
        return frozenset(map(str, ids)) if isinstance(ids, list) else frozenset()

    def _own_text(self) -> str | None:
        try:
            return read_file(self._extension, _MOST_BYTES).decode("utf-8-sig")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise CatalogueInvalid(
                N_("Your catalogue file cannot be used."),
                N_(
                    "{extension} cannot be read as text: {error}.",
                    extension=self._extension,
                    error=error,
                ),
                N_("Correct or remove it."),
            ) from error
