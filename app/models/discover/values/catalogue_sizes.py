"""Sizes, hashes and commits of the catalogue's files, as the Hub last reported them: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from typing import Literal

from pydantic import BaseModel, ConfigDict

from app.models.discover.values.catalogue import Catalogue, CatalogueVariant, File
from app.models.discover.values.placing import file_key
from app.models.hub.values.hub import Repository
from app.models.library.values.quantisations import same_label


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KnownFile(_Value):
    """A file on the Hub.

    Attributes:
        size: Size in bytes.
        sha256: Only of large files.
    """

    path: str
    size: int
    sha256: str | None = None


class KnownRepository(_Value):
    """A repository at one commit.

    Attributes:
        told: When the Hub described it, in seconds since 1970.
        variants: The paths of the parts of each quantisation, by its label.
    """

    revision: str
    told: float
    files: tuple[KnownFile, ...]
    variants: dict[str, tuple[str, ...]]


class KnownFiles(_Value):
    """The files that the Hub has described, by repository."""

    version: Literal[1] = 1
    repositories: dict[str, KnownRepository] = {}


def known_repository(repository: Repository, now: float) -> KnownRepository:
    """Make a record of a repository's GGUF files.

    Args:
        now: The current time, in seconds since 1970.
    """
    return KnownRepository(
        revision=repository.revision,
        told=now,
        files=tuple(
            KnownFile(path=file.path, size=file.size, sha256=file.sha256)
            for file in repository.files
            if file.path.endswith(".gguf")
        ),
        variants={it.label: tuple(file.path for file in it.files) for it in repository.variants},
    )


def known_sizes(catalogue: Catalogue, known: KnownFiles) -> dict[str, int]:
    """Return sizes in bytes, by a variant's name or a file's key, as `placing` needs them."""
    sizes: dict[str, int] = {}
    for size in catalogue.sizes.values():
        for variant in size.variants:
            repository = known.repositories.get(variant.repo)
            if repository and (found := _of_variant(repository, variant)):
                sizes[variant.name] = found
        for file in (size.drafter, size.projector):
            repository = known.repositories.get(file.repo) if file else None
            if file and repository and (one := _of_file(repository, file)):
                sizes[file_key(file)] = one
    return sizes


def _of_variant(repository: KnownRepository, variant: CatalogueVariant) -> int:
    asked = variant.quantisation
    labels = [label for label in repository.variants if same_label(label, asked)]
    if not labels:
        return 0
    exact = asked.upper()
    label = exact if exact in labels else labels[0]
    sizes = {file.path: file.size for file in repository.files}
    return sum(sizes.get(path, 0) for path in repository.variants[label])


def _of_file(repository: KnownRepository, file: File) -> int:
    """Return the size in bytes of the smallest file that matches the pattern; 0 if none does."""
    found = [
        it.size for it in repository.files if fnmatch(it.path.rpartition("/")[2], file.pattern)
    ]
    return min(found, default=0)


def repositories(catalogue: Catalogue) -> tuple[str, ...]:
    """Return the catalogue's repositories, each once; each model's preferred one comes first."""
    of_models: Iterable[tuple[str, ...]] = (it.repositories for it in catalogue.sizes.values())
    return tuple(dict.fromkeys(repo for repos in of_models for repo in repos))


def updated(known: KnownFiles, told: Mapping[str, KnownRepository]) -> KnownFiles:
    """Return the known files with newly described repositories added or replaced."""
    return KnownFiles(repositories={**known.repositories, **told})
