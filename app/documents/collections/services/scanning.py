"""Scans the files and folders of a collection, without reading any file."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.documents.collections.store.collection_index import SeenFile
from app.documents.collections.values import MOST_FILES, PathTrouble
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.sentences import N_

_NO_DOCUMENTS: Final = {
    # pictures
    "png", "jpg", "jpeg", "jpe", "gif", "bmp", "tif", "tiff", "webp", "heic", "heif", "avif",
    "ico", "icns", "svg", "psd", "xcf", "raw", "cr2", "cr3", "nef", "arw", "dng",
    # sound and film
    "mp3", "m4a", "aac", "flac", "ogg", "oga", "opus", "wav", "wma", "aiff", "mid", "midi", "mp4",
    "m4v", "mov", "avi", "mkv", "webm", "wmv", "flv", "mpg", "mpeg", "3gp", "ts",
    # archives and images of disks
    "zip", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "tar", "jar", "war", "iso", "img", "dmg",
    "vmdk", "vdi", "qcow2", "deb", "rpm", "msi", "cab", "apk",
    # programs and what they are made of
    "exe", "dll", "so", "dylib", "a", "lib", "o", "obj", "class", "pyc", "pyo", "pyd", "whl",
    "wasm", "bin", "dat", "node",
    # databases, models, fonts and the like
    "db", "sqlite", "sqlite3", "mdb", "accdb", "gguf", "safetensors", "onnx", "pt", "pth", "npy",
    "npz", "parquet", "feather", "h5", "hdf5", "pkl", "ttf", "otf", "woff", "woff2", "eot", "lock",
    "swp", "bak", "tmp", "part", "crdownload",
}  # fmt: skip
"""File extensions of other kinds; a file that was added on its own is read whatever its kind."""

_NOT_OURS: Final = {"cvs", "_darcs", "node_modules", "__pycache__", "$recycle.bin"}
"""Folders of version control and of programs; most of them are hidden anyway."""

_HIDDEN: Final = 0x2 | 0x4  # FILE_ATTRIBUTE_HIDDEN and FILE_ATTRIBUTE_SYSTEM


@dataclass
class ScanResult:
    """The result of scanning the paths of a collection.

    Attributes:
        files: The documents, by path in the system's encoding.
        left_out: The number of files that are not documents.
        troubles: Paths that could not be scanned.
        blind: Folders that could not be scanned; what the index knows of files in them stays.
        devices: The device number of each path.
    """

    files: dict[bytes, SeenFile] = field(default_factory=dict)
    left_out: int = 0
    troubles: list[PathTrouble] = field(default_factory=list)
    blind: list[Path] = field(default_factory=list)
    devices: dict[str, int] = field(default_factory=dict)

    def spares(self, path: Path) -> bool:
        """Return whether a file that was not seen can still exist."""
        return any(folder == path or folder in path.parents for folder in self.blind)


def scan(
    paths: Iterable[Path],
    known: Iterable[Path],
    devices: Mapping[str, int],
    cancel: CancelToken,
    most: int = MOST_FILES,
) -> ScanResult:
    """Find the documents at and below some paths. Raises Cancelled.

    Args:
        known: The files in the index.
        devices: The device numbers of the paths before; a folder that is now empty and on another
            device belongs to a drive that was removed.
        most: Maximum number of files.
    """
    result, paths, known = ScanResult(), list(paths), set(known)
    folders = sum(path.is_dir() for path in paths)
    visited: set[tuple[int, int]] = set()
    for root in paths:
        before = len(result.files)
        try:
            found = root.stat()
        except OSError as error:
            if _is_deleted_file(root, known):
                continue
            _note_missing(result, root, _why(error))
            continue
        if stat.S_ISREG(found.st_mode):
            _add_file(result, root, _printable(root.name), found)
        elif stat.S_ISDIR(found.st_mode):
            prefix = f"{_printable(root.name)}/" if folders > 1 else ""
            _Walk(result, root, prefix, visited, most).run(cancel)
        else:
            result.troubles.append(PathTrouble(root, N_("It is neither a file nor a folder.")))
        had = any(root in path.parents for path in known)
        moved = devices.get(str(root), found.st_dev) != found.st_dev
        if len(result.files) == before and had and moved:
            _note_missing(
                result, root, N_("The folder is empty, and its drive seems to be disconnected.")
            )
        else:
            result.devices[str(root)] = found.st_dev
    return result


def _is_deleted_file(path: Path, known: set[Path]) -> bool:
    """Return whether a file that was added on its own is gone while its folder still exists."""
    return path in known and path.parent.is_dir() and not os.path.lexists(path)


def _note_missing(result: ScanResult, path: Path, why: str) -> None:
    result.troubles.append(PathTrouble(path, why, away=True))
    result.blind.append(path)


@dataclass
class _Walk:
    """A walk through the folders below a root.

    Attributes:
        prefix: The beginning of its files' names.
        visited: Folders that are not entered again, however many links lead there.
    """

    result: ScanResult
    root: Path
    prefix: str
    visited: set[tuple[int, int]]
    most: int

    def run(self, cancel: CancelToken) -> None:
        """Scan the root and all folders in it. Raises Cancelled."""
        folders = [self.root]
        while folders:
            if cancel.cancelled:
                raise Cancelled
            folder = folders.pop()
            try:
                entries = self._entries(folder)
            except OSError as error:
                self.result.troubles.append(PathTrouble(folder, _why(error)))
                self.result.blind.append(folder)
                continue
            inside = [
                folder / entry.name for entry in entries if self._visit(folder / entry.name, entry)
            ]
            folders += reversed(inside)

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        """List the entries of a folder by name; none the second time. Raises OSError."""
        status = folder.stat()
        if (status.st_dev, status.st_ino) in self.visited:
            return []
        self.visited.add((status.st_dev, status.st_ino))
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)

    def _visit(self, path: Path, entry: os.DirEntry[str]) -> bool:
        """Record a file. Return whether the entry is a folder to scan instead."""
        try:
            if _is_hidden(entry):
                return False
            if entry.is_dir():
                return entry.name.lower() not in _NOT_OURS
            if entry.is_file():
                self._file(path)
        except OSError as error:
            # A dangling link, or a file that was just deleted, is not worth reporting.
            if os.path.lexists(path) and not entry.is_symlink():
                self.result.troubles.append(PathTrouble(path, _why(error)))
                self.result.blind.append(path)
        return False

    def _file(self, path: Path) -> None:
        if path.suffix[1:].lower() in _NO_DOCUMENTS:
            self.result.left_out += 1
        elif len(self.result.files) < self.most:
            name = self.prefix + _printable(path.relative_to(self.root).as_posix())
            _add_file(self.result, path, name, path.stat())
        elif self.root not in self.result.blind:
            _too_many(self.result, self.root, self.most)


def _too_many(result: ScanResult, root: Path, most: int) -> None:
    why = N_(
        "The collection has {most} files, which is the limit; other files here are left out.",
        most=f"{most:,}",
    )
    result.troubles.append(PathTrouble(root, why))
    result.blind.append(root)


def _add_file(result: ScanResult, path: Path, name: str, found: os.stat_result) -> None:
    result.files[os.fsencode(path)] = SeenFile(path, name, found.st_size, found.st_mtime_ns)


def _is_hidden(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith((".", "~$")):
        return True
    if sys.platform == "win32":
        return bool(entry.stat(follow_symlinks=False).st_file_attributes & _HIDDEN)
    return False


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else " " for character in name)


def _why(error: OSError) -> str:
    """Return the reason as a sentence."""
    if isinstance(error, FileNotFoundError):
        return N_("It does not exist.")
    if isinstance(error, PermissionError):
        return N_("The system does not let Hearth open it.")
    return N_("The system says: {strerror}.", strerror=error.strerror or error)
