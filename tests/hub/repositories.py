"""The repositories of the loopback Hub: files, commits, and facts about a model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.hub.contents import Content, git_blob_id, sha256_of

LFS_ENDINGS = (".gguf", ".safetensors", ".bin", ".pth", ".onnx")
LFS_FROM = 10 * 1024**2
"""In bytes. A file of this size is kept in LFS, with any name."""
FIRST_DATE = 1_767_225_600.0
"""1 January 2026. Each commit is a day after the one before."""
DAY = 86_400.0

Gated = Literal["auto", "manual", False]


@dataclass(frozen=True)
class HubFile:
    """A file of a commit.

    Attributes:
        oid: Git's name of it, or of its LFS pointer.
        sha256: Its SHA-256, only in LFS.
    """

    path: str
    content: Content = field(repr=False)
    size: int
    oid: str
    sha256: str | None
    pointer_size: int = 0
    xet_hash: str | None = None

    @property
    def etag(self) -> str:
        return f'"{self.sha256 or self.oid}"'


@dataclass(frozen=True)
class Commit:
    """A state of a repository.

    Attributes:
        id: 40 hexadecimal digits.
        date: Seconds since 1970.
    """

    id: str
    title: str
    date: float
    files: Mapping[str, HubFile]


@dataclass
class HostedRepo:
    """A model repository. See `TestHub.add` for the fields."""

    id: str
    gated: Gated = False
    private: bool = False
    licence: str | None = None
    tags: tuple[str, ...] = ()
    downloads: int = 0
    likes: int = 0
    gguf: Mapping[str, Any] | None = None
    safetensors: Mapping[str, Any] | None = None
    pipeline_tag: str | None = "text-generation"
    card_data: Mapping[str, Any] = field(default_factory=dict)
    xet: bool = False
    created: float = FIRST_DATE
    commits: list[Commit] = field(default_factory=list)

    @property
    def head(self) -> Commit:
        return self.commits[-1]

    def at(self, revision: str) -> Commit | None:
        """Return the commit for "main" or for a commit's own name; None if there is none."""
        if revision == "main":
            return self.head
        return next((commit for commit in self.commits if commit.id == revision), None)

    def put(self, files: Mapping[str, Content | None]) -> Commit:
        """Add a commit with these files changed or, if None, removed."""
        kept = dict(self.head.files) if self.commits else {}
        for path, content in files.items():
            if content is None:
                del kept[path]
            else:
                kept[path] = make_file(path, content, self.xet)
        number = len(self.commits)
        names = "".join(f"{path} {file.oid}\n" for path, file in sorted(kept.items()))
        sha = hashlib.sha1(f"{self.id} {number}\n{names}".encode(), usedforsecurity=False)
        date = self.created + number * DAY
        commit = Commit(sha.hexdigest(), f"Change {number}", date, kept)
        self.commits.append(commit)
        return commit


def make_file(path: str, content: Content, xet: bool = False) -> HubFile:
    """Make a file as the Hub keeps it: in LFS if it is large or a model's, plainly otherwise."""
    size = content.size
    if size < LFS_FROM and not path.endswith(LFS_ENDINGS):
        return HubFile(path, content, size, git_blob_id(content.read(0, size)), None)
    sha256 = sha256_of(content)
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n"
    # the real hash is of the chunks' tree; here it is another 64 digits that belong to the same
    # bytes
    xet_hash = hashlib.sha256(f"xet {sha256}".encode()).hexdigest() if xet else None
    oid = git_blob_id(pointer.encode())
    return HubFile(path, content, size, oid, sha256, len(pointer), xet_hash)
