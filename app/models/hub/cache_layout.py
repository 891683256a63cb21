"""The layout of huggingface_hub's cache, so that every tool finds a downloaded file.

::

    <root>/models--owner--name/blobs/<checksum>                     the bytes
                              /snapshots/<commit>/<path>            a link to them
                              /refs/<branch>                        a commit, as text
          /.locks/models--owner--name/<checksum>.lock               held while writing that blob
          /CACHEDIR.TAG                                             for backup programs

This follows huggingface_hub 2.4 (file_download.py), except for the store that repositories share:
only its Xet transfers write there, and a blob that links there is read like any other.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from app.models.hub.part import SUFFIX
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.private import replace_file

_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n"
_RETRY_LOCK_S = 0.3


class Slot:
    """The place of one file of a repository at one commit.

    Creating a slot does not touch the disk.

    Args:
        path: Path in the repository, with forward slashes.

    Raises:
        ValueError: The path leads out of the repository.
    """

    def __init__(self, root: Path, repo: str, commit: str, path: str, checksum: str) -> None:
        folder = "--".join(["models", *repo.split("/")])
        parts = _parts(path)
        self._root = root
        self._checksum = checksum
        self.repo = root / folder
        self._lock = root / ".locks" / folder / f"{checksum}.lock"
        self._commit = commit
        self.blob = self.repo / "blobs" / checksum
        self.part = self.blob.with_name(f"{checksum}{SUFFIX}")
        self.pointer = self.repo.joinpath("snapshots", commit, *parts)

    def prepare(self) -> None:
        """Create the folders that a part needs, and the `snapshots` folder.

        Other tools call the repository corrupt if `snapshots` is missing.
        """
        for folder in (self.part.parent, self.repo / "snapshots", self._lock.parent):
            folder.mkdir(parents=True, exist_ok=True)
        tag = self._root / "CACHEDIR.TAG"
        if not tag.exists():
            tag.write_text(_TAG, encoding="ascii")

    @contextmanager
    def locked(self, cancel: CancelToken) -> Iterator[None]:
        """Hold the lock of this blob, as huggingface_hub does, so that only one process writes it.

        Raises:
            Cancelled: The user cancelled while another process still held the lock.
        """
        from filelock import Timeout
        from huggingface_hub.utils._fixes import WeakFileLock

        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(WeakFileLock(self._lock, timeout=_RETRY_LOCK_S))
                    break
                except Timeout:
                    if cancel.cancelled:
                        raise Cancelled from None
            yield

    def find(self, size: int) -> Path | None:
        """Find a file of this content and size: here, or in another repository of the cache.

        Returns:
            None if there is none.
        """
        other_blobs = sorted(self._root.glob(f"models--*/blobs/{self._checksum}"))
        for candidate in (self.pointer, self.blob, *other_blobs):
            try:
                if candidate.stat().st_size == size:
                    return candidate
            except OSError:
                continue  # missing, or a broken link
        return None

    def take(self, existing: Path) -> None:
        """Use a file that `find` returned as this one; copies no bytes where hard links work.

        Raises:
            OSError: The file cannot be linked or copied.
        """
        if existing in (self.pointer, self.blob):
            self._point(existing)
            return
        temporary = self._temporary_path(self.blob)
        try:
            os.link(existing.resolve(), temporary)
        except OSError:
            shutil.copyfile(existing, temporary)
        replace_file(temporary, self.blob)
        self._point(self.blob)

    def place(self, ref: str) -> Path:
        """Turn the complete part into the file, and point the branch to its commit.

        Returns:
            The file's path in the snapshot.

        Raises:
            OSError: The file cannot be moved or linked.
        """
        replace_file(self.part, self.blob)
        self._point(self.blob)
        self.refer(ref)
        return self.pointer

    def refer(self, ref: str) -> None:
        """Point a branch to this commit, for tools that look up the branch."""
        if ref == self._commit:
            return
        place = self.repo.joinpath("refs", *_parts(ref))
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._temporary_path(place)
        temporary.write_text(self._commit, encoding="ascii")
        replace_file(temporary, place)

    def _point(self, target: Path) -> None:
        """Link to the blob with a relative path, or move the file itself if links are not possible.

        Two processes can do this at once, so the link is made under another name and then moved.
        """
        from huggingface_hub.file_download import are_symlinks_supported

        if target == self.pointer:
            return
        self.pointer.parent.mkdir(parents=True, exist_ok=True)
        if not are_symlinks_supported(self._root):
            replace_file(target, self.pointer)
            return
        temporary = self._temporary_path(self.pointer)
        temporary.symlink_to(os.path.relpath(target, self.pointer.parent))
        replace_file(temporary, self.pointer)

    @staticmethod
    def _temporary_path(path: Path) -> Path:
        return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")


def _parts(path: str) -> list[str]:
    """Split a path on the Hub into names.

    Raises:
        ValueError: The path leads out of the repository.
    """
    names = path.split("/")
    if any(name in ("", ".", "..") or set(name) & set("\\:") for name in names):
        raise ValueError(f"not a path within a repository: {path}")
    return names
