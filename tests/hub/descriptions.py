"""The JSON in which the Hub's API describes repositories and files."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from tests.hub.contents import git_blob_id
from tests.hub.repositories import Commit, HostedRepo, HubFile

EXPANDABLE = set(
    "author baseModels cardData childrenModelCount config createdAt disabled downloads"
    " downloadsAllTime evalResults gated gguf inference inferenceProviderMapping lastModified"
    " library_name likes mask_token model-index pipeline_tag private resourceGroup safetensors"
    " securityRepoStatus sha siblings spaces tags transformersInfo trendingScore usedStorage"
    " widgetData".split()
)
"""The fields for `expand`, as of huggingface_hub 2.4; any other is a bad request."""

LISTED = {
    "createdAt", "downloads", "library_name", "likes", "pipeline_tag", "private", "tags",
}  # fmt: skip
"""The fields of a repository in a list by default."""

LISTED_IN_FULL = LISTED | {"author", "gated", "lastModified", "sha", "siblings"}

TOLD = LISTED_IN_FULL | {
    "cardData", "config", "disabled", "gguf", "safetensors", "spaces", "usedStorage",
}  # fmt: skip
"""The fields at a repository's own address by default."""


def date_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def tags_of(repo: HostedRepo) -> list[str]:
    """Return the given tags, and those that the Hub finds by itself."""
    found = list(repo.tags)
    if any(path.endswith(".gguf") for path in repo.head.files):
        found.append("gguf")
    if any(path.endswith(".safetensors") for path in repo.head.files):
        found.append("safetensors")
    if repo.licence:
        found.append(f"license:{repo.licence}")
    if repo.pipeline_tag:
        found.append(repo.pipeline_tag)
    return list(dict.fromkeys([*found, "region:us"]))


def card_data_of(repo: HostedRepo) -> dict[str, Any]:
    licence = {"license": repo.licence} if repo.licence else {}
    return {**licence, **({"tags": list(repo.tags)} if repo.tags else {}), **repo.card_data}


def parameters_of(repo: HostedRepo) -> int | None:
    """Return the number of weights, if the Hub could count them."""
    counted = repo.gguf or repo.safetensors
    return counted.get("total") if counted else None


def model_json(
    repo: HostedRepo, commit: Commit, fields: Iterable[str], blobs: bool = False
) -> dict[str, Any]:
    """Return the description of a repository at one commit.

    Args:
        repo: The repository.
        commit: The commit.
        fields: The fields to include.
        blobs: True to include sizes and hashes of the files.
    """
    known: dict[str, Any] = {
        "author": repo.id.split("/")[0],
        "cardData": card_data_of(repo),
        "config": {},
        "createdAt": date_text(repo.created),
        "disabled": False,
        "downloads": repo.downloads,
        "downloadsAllTime": repo.downloads * 10,
        "gated": repo.gated,
        "gguf": repo.gguf,
        "lastModified": date_text(commit.date),
        "library_name": "gguf" if "gguf" in tags_of(repo) else None,
        "likes": repo.likes,
        "pipeline_tag": repo.pipeline_tag,
        "private": repo.private,
        "safetensors": repo.safetensors,
        "sha": commit.id,
        "siblings": [sibling_json(file, blobs) for _, file in sorted(commit.files.items())],
        "spaces": [],
        "tags": tags_of(repo),
        "trendingScore": repo.likes,
        "usedStorage": sum(file.size for file in commit.files.values()),
    }
    said = {name: known[name] for name in sorted(fields) if known.get(name) is not None}
    return {"_id": git_blob_id(repo.id.encode())[:24], "id": repo.id, "modelId": repo.id, **said}


def sibling_json(file: HubFile, blobs: bool) -> dict[str, Any]:
    if not blobs:
        return {"rfilename": file.path}
    said: dict[str, Any] = {"rfilename": file.path, "blobId": file.oid, "size": file.size}
    if file.sha256:
        said["lfs"] = {
            "sha256": file.sha256,
            "size": file.size,
            "pointerSize": file.pointer_size,
        }
    return said


def file_json(file: HubFile, commit: Commit, expand: bool) -> dict[str, Any]:
    """Return the description of a file in a tree."""
    said: dict[str, Any] = {
        "type": "file",
        "oid": file.oid,
        "size": file.size,
        "path": file.path,
    }
    if file.sha256:
        said["lfs"] = {
            "oid": file.sha256,
            "size": file.size,
            "pointerSize": file.pointer_size,
        }
    if file.xet_hash:
        said["xetHash"] = file.xet_hash
    if expand:
        said["lastCommit"] = commit_json(commit)
        said["securityFileStatus"] = {
            "status": "safe",
            "avScan": {"virusFound": False, "virusNames": None},
            "pickleImportScan": None,
        }
    return said


def folder_json(path: str, commit: Commit, expand: bool) -> dict[str, Any]:
    oid = git_blob_id(f"{commit.id} {path}".encode())
    said: dict[str, Any] = {"type": "directory", "oid": oid, "size": 0, "path": path}
    if expand:
        said["lastCommit"] = commit_json(commit)
    return said


def commit_json(commit: Commit) -> dict[str, str]:
    return {"id": commit.id, "title": commit.title, "date": date_text(commit.date)}


def folders_of(commit: Commit) -> set[str]:
    """Return all folders that contain a file."""
    parents = {parent for path in commit.files for parent in PurePosixPath(path).parents}
    return {str(parent) for parent in parents if str(parent) != "."}


def tree_json(
    commit: Commit, under: str, recursive: bool, expand: bool
) -> list[dict[str, Any]] | None:
    """List a folder ("" is the top), with all below it if recursive; None if it is no folder."""
    folders = folders_of(commit)
    if under and under not in folders:
        return None
    start = f"{under}/" if under else ""

    def wanted(path: str) -> bool:
        rest = path.removeprefix(start)
        return path.startswith(start) and (recursive or "/" not in rest)

    said = [folder_json(path, commit, expand) for path in sorted(folders) if wanted(path)]
    files = sorted(commit.files.items())
    return said + [file_json(file, commit, expand) for path, file in files if wanted(path)]
