"""Models on the Hub, as the rest of the app sees them: repositories, files and variants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Gate = Literal["open", "auto", "manual"]
"""How a repository grants access: to all, after a click, or with its owner's consent."""

Sort = Literal["downloads", "likes", "updated", "name"]


@dataclass(frozen=True)
class RepoFile:
    """A file of a repository.

    Attributes:
        size: Size in bytes.
        sha256: From the LFS entry, which only large files have.
    """

    path: str
    size: int
    sha256: str | None = None


@dataclass(frozen=True)
class FileRequest:
    """A file to download.

    Attributes:
        commit: The commit of the repository.
        ref: The branch by which other tools will look for the file.
    """

    repo: str
    commit: str
    file: RepoFile
    ref: str = "main"


@dataclass(frozen=True)
class Variant:
    """One quantisation of a model, with all its parts: the unit that a user chooses.

    Attributes:
        label: The usual name, such as "Q4_K_M".
        files: The parts, in order.
        bits: Approximate bits per weight; 0 if the label does not say.
    """

    label: str
    files: tuple[RepoFile, ...]
    bits: float = 0.0

    @property
    def size_bytes(self) -> int:
        """The size of all its parts, in bytes."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class SearchResult:
    """A repository on the Hub, as a search finds it.

    Attributes:
        id: "owner/name".
        licence: Its short name; None if the owner gives none.
        updated: Seconds since 1970; None if unknown.
        parameters: From the GGUF file that the Hub has read, or from the repository's name; None
            if neither says.
    """

    id: str
    gate: Gate = "open"
    licence: str | None = None
    downloads: int = 0
    likes: int = 0
    updated: float | None = None
    tags: tuple[str, ...] = ()
    parameters: int | None = None


@dataclass(frozen=True, kw_only=True)
class Repository(SearchResult):
    """A repository on the Hub, at one commit.

    Attributes:
        revision: The commit, 40 hexadecimal digits.
        architecture: From the GGUF file that the Hub has read, like `context_max`; None if it has
            read none.
        variants: The quantisations to choose from, smallest first.
        drafter: The file that is downloaded with a choice; None if there is none.
    """

    revision: str
    architecture: str | None = None
    context_max: int | None = None
    files: tuple[RepoFile, ...] = ()
    variants: tuple[Variant, ...] = ()
    drafter: RepoFile | None = None


@dataclass(frozen=True)
class Query:
    """A search on the Hub; its filters leave out repositories that do not match.

    Attributes:
        most_parameters: Leaves out larger models, so that the results can fit this computer.
    """

    words: str = ""
    sort: Sort = "downloads"
    mtp: bool = False
    licence: str | None = None
    most_parameters: int | None = None
    limit: int = 50
