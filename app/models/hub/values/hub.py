"""A model on the Hub, as the rest of the app sees it: repositories, files, and what is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Gate = Literal["open", "auto", "manual"]
"""Whether a repository asks for an account: not at all, for a click, or for somebody's consent."""

Sort = Literal["downloads", "likes", "updated", "name"]


@dataclass(frozen=True)
class RepoFile:
    """A file of a repository. size in bytes. sha256: of large files, from their LFS entry."""

    path: str
    size: int
    sha256: str | None = None


@dataclass(frozen=True)
class Variant:
    """One quantisation of a model, which is what a person chooses, with all its parts.

    label: as the field calls it, such as "Q4_K_M". files: its parts, in their order.
    bits: of a weight, about; 0 if the label does not tell.
    """

    label: str
    files: tuple[RepoFile, ...]
    bits: float = 0.0

    @property
    def size_bytes(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class Repository:
    """A repository on the Hub, at one commit.

    id: "owner/name". revision: the commit, 40 hexadecimal digits. licence: its short name, None if
    none is given. updated: seconds since 1970, None if it is not said. architecture, context_max,
    parameters: of the GGUF file that the Hub has looked into; None where it has not.
    variants: quantisations to choose from, smallest first. drafter: the file that comes with a
    choice by itself, None if there is none.
    """

    id: str
    revision: str
    gate: Gate = "open"
    licence: str | None = None
    downloads: int = 0
    likes: int = 0
    updated: float | None = None
    tags: tuple[str, ...] = ()
    architecture: str | None = None
    context_max: int | None = None
    parameters: int | None = None
    files: tuple[RepoFile, ...] = ()
    variants: tuple[Variant, ...] = ()
    drafter: RepoFile | None = None


@dataclass(frozen=True)
class SearchResult:
    """A repository in a list of search results; see `Repository` for the fields."""

    id: str
    gate: Gate = "open"
    licence: str | None = None
    downloads: int = 0
    likes: int = 0
    updated: float | None = None
    tags: tuple[str, ...] = ()
    parameters: int | None = None


@dataclass(frozen=True)
class Query:
    """A search on the Hub. The filters leave out what does not have what they ask for.

    most_parameters: leaves out larger models, so that what is left can fit this computer.
    """

    words: str = ""
    sort: Sort = "downloads"
    mtp: bool = False
    licence: str | None = None
    most_parameters: int | None = None
    limit: int = 50
