"""The Hub's cache, as huggingface_hub lays it out: models--OWNER--NAME/snapshots/COMMIT/FILE.

A file of a snapshot is a link to ../../blobs/HASH; the hash of a large file is its SHA-256.
Source: huggingface_hub's document "Understand caching".
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from app.models.library.services.places.checkpoints import checkpoints_of
from app.models.library.services.places.files import groups_below
from app.models.library.services.places.scan import Scan, changed, list_folder
from engines.regular import read_regular_text

_SHA256: Final = re.compile(r"^(?:sha256[-:])?([0-9a-f]{64})$")


def scan_hub(cache: Path) -> Scan:
    """Find the models in a cache; a file in several commits counts for the newest of them."""
    scan = Scan()
    if not scan.watch(cache):
        return scan
    for folder in list_folder(cache, scan):
        if not folder.name.startswith("models--"):
            continue
        snapshots = folder / "snapshots"
        if scan.watch(snapshots):
            scan.merge([_repository(folder, _commits(folder, scan))])
    return scan


def repository_of(folder: Path) -> str:
    """Return "owner/name" from the name of a repository's folder in the cache."""
    return folder.name.removeprefix("models--").replace("--", "/", 1)


def hash_from_name(path: Path) -> str | None:
    """Return the SHA-256 in the name of a file or of its link target; None if there is none."""
    names = [path.name, path.readlink().name] if path.is_symlink() else [path.name]
    return next((match[1] for name in names if (match := _SHA256.match(name))), None)


def _commits(folder: Path, scan: Scan) -> list[Path]:
    """List the snapshots: the one of `main` first, then from the newest to the oldest."""
    try:
        main = read_regular_text(folder / "refs" / "main").strip()
    except (OSError, ValueError):
        main = ""
    scan.watch(folder / "refs")
    commits = [path for path in list_folder(folder / "snapshots", scan) if path.is_dir()]
    return sorted(commits, key=lambda path: (path.name != main, -(changed(path) or 0), path.name))


def _repository(folder: Path, commits: list[Path]) -> Scan:
    scan = Scan()
    repo = repository_of(folder)
    identities: set[str] = set()
    for commit in commits:
        for group in groups_below(commit, scan):
            file = group.files[0].relative_to(commit).as_posix()
            sha256 = hash_from_name(group.files[0])
            identity = f"hub:{repo}/{file}:{sha256 or commit.name}"
            if identity in identities:
                continue
            identities.add(identity)
            model = group.as_found_model("hub", identity)
            scan.models.append(
                replace(model, repo=repo, revision=commit.name, file=file, sha256=sha256)
            )
        for checkpoint in checkpoints_of(scan):
            below = checkpoint.folder.relative_to(commit)
            identity = f"hub:{repo}/{below.as_posix()}"
            if identity in identities:
                continue  # the same checkpoint in an older commit
            identities.add(identity)
            model = checkpoint.as_found_model("hub", identity)
            name = below.name or repo.rpartition("/")[2]
            scan.models.append(replace(model, name=name, repo=repo, revision=commit.name))
    return scan
