"""Turns a choice into the files that are downloaded for it, and back: pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.models.discover.values.offers import Choice
from app.models.downloads.values.downloads import Download, Wanted
from app.models.hub.values.hub import RepoFile, Repository
from app.models.library.values.quantisations import same_label
from engines.models.checkpoint import is_checkpoint

_OF_A_CHECKPOINT = (".safetensors", ".json", ".jinja", ".txt", ".model")


def wanted(repository: Repository, choice: Choice, *, projector: bool = False) -> Wanted:
    """Collect the files of a choice: its parts, and the drafter and projector beside it."""
    files = (choice.drafter, choice.projector if projector else None)
    beside = [it for it in files if it is not None]
    label = label_of(repository.id, choice.variant.label)
    return Wanted(repository.id, repository.revision, (*choice.variant.files, *beside), label)


def wanted_file(repository: Repository, file: RepoFile) -> Wanted:
    """Ask for one file of a repository by itself."""
    label = label_of(repository.id, file.path)
    return Wanted(repository.id, repository.revision, (file,), label)


def wanted_checkpoint(repository: Repository) -> Wanted | None:
    """Collect a repository's files that vLLM reads; None where it has no checkpoint."""
    files = tuple(
        it
        for it in repository.files
        if "/" not in it.path
        and it.path.endswith(_OF_A_CHECKPOINT)
        and not it.path.startswith("consolidated")  # the same again, in its maker's own layout
    )
    if not is_checkpoint([it.path for it in files]):
        return None
    label = label_of(repository.id, "checkpoint")
    return Wanted(repository.id, repository.revision, files, label)


def label_of(repo: str, label: str) -> str:
    """Name a quantisation, or a file, of a repository."""
    return f"{repo} {label}"


def name_of(it: Wanted) -> str:
    """Name a download without its repository's owner, for short lines."""
    return it.label.rpartition("/")[2]


def download_of(downloads: Sequence[Download], repo: str, label: str) -> Download | None:
    """Find the last download of a quantisation that was not cancelled; None if there is none.

    label: as it is written in the catalogue or chosen from the repository; see `same_label`.
    """
    found = [
        it
        for it in downloads
        if it.wanted.repo == repo
        and it.state != "cancelled"
        and same_label(it.wanted.label.rpartition(" ")[2], label)
    ]
    return found[-1] if found else None
