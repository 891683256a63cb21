"""Sizes of the catalogue's files, as the Hub last reported them: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from typing import Literal

from pydantic import BaseModel, ConfigDict

from app.models.discover.values.catalogue import Catalogue, CatalogueVariant, File
from app.models.discover.values.placing import file_key
from app.models.hub.values.hub import Repository
from app.models.library.values.quantisations import same_label


class KnownRepositories(BaseModel):
    """The repositories that the Hub has described, by their names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[2] = 2
    repositories: dict[str, Repository] = {}


def known_sizes(catalogue: Catalogue, known: Mapping[str, Repository]) -> dict[str, int]:
    """Return sizes in bytes, by a variant's name or a file's key, as `placing` needs them.

    Args:
        known: The repositories that the Hub has described, by their names.
    """
    sizes: dict[str, int] = {}
    for size in catalogue.sizes.values():
        for variant in size.variants:
            repository = known.get(variant.repo)
            if repository and (size_bytes := _of_variant(repository, variant)):
                sizes[variant.name] = size_bytes
        for file in (size.drafter, size.projector):
            repository = known.get(file.repo) if file else None
            if file and repository and (size_bytes := _of_file(repository, file)):
                sizes[file_key(file)] = size_bytes
    return sizes


def _of_variant(repository: Repository, variant: CatalogueVariant) -> int:
    """Return the size in bytes of a quantisation; 0 if the repository does not have it."""
    label = variant.quantisation
    matching = [variant for variant in repository.variants if same_label(variant.label, label)]
    exact = [variant for variant in matching if variant.label == label.upper()]
    return next((variant.size_bytes for variant in (*exact, *matching)), 0)


def _of_file(repository: Repository, file: File) -> int:
    """Return the size in bytes of the smallest file that matches the pattern; 0 if none does."""
    sizes = [
        listed.size
        for listed in repository.files
        if fnmatch(listed.path.rpartition("/")[2], file.pattern)
    ]
    return min(sizes, default=0)


def repositories(catalogue: Catalogue) -> tuple[str, ...]:
    """Return the catalogue's repositories, each once; each model's preferred one comes first."""
    of_models: Iterable[tuple[str, ...]] = (size.repositories for size in catalogue.sizes.values())
    return tuple(dict.fromkeys(repo for repos in of_models for repo in repos))
