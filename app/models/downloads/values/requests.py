"""Turns a choice into the files to download, and finds the download of a choice: pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.models.discover.values.offers import Choice
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.hub.values.hub import RepoFile, Repository
from app.models.library.values.quantisations import same_label
from engines.models.checkpoint import is_checkpoint

_CHECKPOINT_SUFFIXES = (".safetensors", ".json", ".jinja", ".txt", ".model")


def choice_request(
    repository: Repository, choice: Choice, *, projector: bool = False
) -> DownloadRequest:
    """Collect a choice's files: the variant's parts, its drafter and, on request, its projector."""
    files = (choice.drafter, choice.projector if projector else None)
    companions = [file for file in files if file is not None]
    label = label_of(repository.id, choice.variant.label)
    return DownloadRequest(
        repository.id, repository.revision, (*choice.variant.files, *companions), label
    )


def file_request(repository: Repository, file: RepoFile) -> DownloadRequest:
    """Return a request for a single file of a repository."""
    label = label_of(repository.id, file.path)
    return DownloadRequest(repository.id, repository.revision, (file,), label)


def checkpoint_request(repository: Repository) -> DownloadRequest | None:
    """Collect the repository's files that vLLM reads; return None if it has no checkpoint."""
    files = tuple(
        file
        for file in repository.files
        if "/" not in file.path
        and file.path.endswith(_CHECKPOINT_SUFFIXES)
        and not file.path.startswith("consolidated")  # the same weights in the maker's own layout
    )
    if not is_checkpoint([file.path for file in files]):
        return None
    label = label_of(repository.id, "checkpoint")
    return DownloadRequest(repository.id, repository.revision, files, label)


def label_of(repo: str, label: str) -> str:
    """Return the label of a quantisation, or of a file, of a repository."""
    return f"{repo} {label}"


def name_of(choice_request: DownloadRequest) -> str:
    """Return a download's name without the repository's owner, for short lines."""
    return choice_request.label.rpartition("/")[2]


def download_of(downloads: Sequence[Download], repo: str, label: str) -> Download | None:
    """Return the last download of a quantisation that was not cancelled; None if there is none.

    Args:
        label: The quantisation as written in the catalogue or chosen from the repository; see
            `same_label`.
    """
    matching = [
        download
        for download in downloads
        if download.wanted.repo == repo
        and download.state != "cancelled"
        and same_label(download.wanted.label.rpartition(" ")[2], label)
    ]
    return matching[-1] if matching else None
