"""Turns a choice into the files to download, and finds the download of a choice: pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.models.discover.values.offers import Choice
from app.models.downloads.values.downloads import Download, Wanted
from app.models.hub.values.hub import RepoFile, Repository
from app.models.library.values.quantisations import same_label
from engines.models.checkpoint import is_checkpoint

_OF_A_CHECKPOINT = (".safetensors", ".json", ".jinja", ".txt", ".model")


def wanted(repository: Repository, choice: Choice, *, projector: bool = False) -> Wanted:
    """Collect a choice's files: the variant's parts, its drafter and, on request, its projector."""
    files = (choice.drafter, choice.projector if projector else None)
    beside = [it for it in files if it is not None]
    label = label_of(repository.id, choice.variant.label)
    return Wanted(repository.id, repository.revision, (*choice.variant.files, *beside), label)


def wanted_file(repository: Repository, file: RepoFile) -> Wanted:
    """Return a request for a single file of a repository."""
    label = label_of(repository.id, file.path)
    return Wanted(repository.id, repository.revision, (file,), label)


def wanted_checkpoint(repository: Repository) -> Wanted | None:
    """Collect the repository's files that vLLM reads; return None if it has no checkpoint."""
    files = tuple(
        it
        for it in repository.files
        if "/" not in it.path
        and it.path.endswith(_OF_A_CHECKPOINT)
        and not it.path.startswith("consolidated")  # the same weights in the maker's own layout
    )
    if not is_checkpoint([it.path for it in files]):
        return None
    label = label_of(repository.id, "checkpoint")
    return Wanted(repository.id, repository.revision, files, label)


def label_of(repo: str, label: str) -> str:
    """Return the label of a quantisation, or of a file, of a repository."""
    return f"{repo} {label}"


def name_of(it: Wanted) -> str:
    """Return a download's name without the repository's owner, for short lines."""
    return it.label.rpartition("/")[2]


def download_of(downloads: Sequence[Download], repo: str, label: str) -> Download | None:
    """Return the last download of a quantisation that was not cancelled; None if there is none.

    Args:
        label: The quantisation as written in the catalogue or chosen from the repository; see
            `same_label`.
    """
    found = [
        it
        for it in downloads
        if it.wanted.repo == repo
        and it.state != "cancelled"
        and same_label(it.wanted.label.rpartition(" ")[2], label)
    ]
    return found[-1] if found else None
