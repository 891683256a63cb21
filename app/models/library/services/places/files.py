"""Groups GGUF files below a folder into models, with their parts, drafters and projectors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from app.models.library.services.places.scan import FoundModel, Inode, Scan, skipped
from app.models.library.values.entry import Source
from engines.models.checkpoint import is_checkpoint
from engines.models.gguf.format import PART, first_part, parts_of
from engines.models.gguf.glance import Glance, glance
from engines.models.gguf.pieces import listed, pieces_of
from engines.regular import require_regular
from engines.sentences import N_

_DEEPEST: Final = 8
_PROJECTOR_WORD: Final = "mmproj"
# Prefixes of incomplete GGUF files (GPT4All) and of the shadow files of macOS.
_INCOMPLETE_PREFIXES: Final = ("incomplete-", "._", ".")


@dataclass(frozen=True)
class Group:
    """The files of one model.

    Attributes:
        stem: Their name without the part number and the extension.
    """

    stem: str
    files: tuple[Path, ...]
    size_bytes: int
    inode: Inode
    facts: Glance
    projector: Path | None = None

    def as_found_model(self, source: Source, identity: str) -> FoundModel:
        """Return it as a found model; callers add the facts of its place with `replace`."""
        return FoundModel(
            identity=identity,
            name=self.stem,
            source=source,
            files=self.files,
            size_bytes=self.size_bytes,
            inode=self.inode,
            projector=self.projector,
        )


def groups_below(folder: Path, scan: Scan) -> list[Group]:
    """Return the chat models below `folder`; incomplete models and other GGUF files are noted.

    A model's projector lies beside it, or in a folder above it up to `folder`. Folders with a
    checkpoint are put into `scan.folders`, and drafters into `scan.drafters`.
    """
    inside: dict[Path, list[Group]] = {}
    scan.folders.clear()
    for folder_, names in _folders(folder, scan, _DEEPEST, set()):
        inside[folder_] = list(_complete_groups(folder_, names, scan))
        if is_checkpoint(names):
            scan.folders.append(folder_)
    scan.drafters += [
        group.files[0]
        for groups in inside.values()
        for group in groups
        if group.facts.kind == "drafter"
    ]
    return [
        replace(group, projector=_projector_for(group, folder_, folder, inside))
        for folder_, groups in inside.items()
        for group in groups
        if group.facts.kind == "chat"
    ]


def is_complete_name(name: str) -> bool:
    """Return whether a file is named like a completely downloaded model."""
    return name.lower().endswith(".gguf") and not name.lower().startswith(_INCOMPLETE_PREFIXES)


def group_of(path: Path, scan: Scan) -> Group | None:
    """Return the model, drafter or projector with this first file.

    Returns:
        None if there is none, which is noted.
    """
    return next(_complete_groups(path.parent, [path.name], scan), None)


def glance_at(path: Path, scan: Scan) -> Glance | None:
    """Glance at a file; return None, with a note, if it is not a model."""
    try:
        facts = path.stat()
        glance_ = _glance(path, facts.st_size, facts.st_mtime_ns)
    except OSError as error:
        scan.notes.append(skipped(path, error))
        return None
    if glance_ is None:
        scan.watch(path)  # it may still be arriving
        scan.notes.append(N_("{path} was skipped: it is not a GGUF model.", path=path))
    return glance_


def inode_of(path: Path) -> Inode:
    """Return a file's device and inode number.

    Raises:
        OSError: The file cannot be found.
    """
    facts = path.stat()
    return facts.st_dev, facts.st_ino


def find_projector(path: Path) -> Path | None:
    """Find the projector beside a model that no scan has found, by the projector's name."""
    scan = Scan()
    try:
        names = [
            path.name for path in path.parent.iterdir() if _PROJECTOR_WORD in path.name.lower()
        ]
    except OSError:
        return None
    if not names or (model := group_of(path, scan)) is None:
        return None
    groups = list(_complete_groups(path.parent, names, scan))
    return _projector_for(model, path.parent, path.parent, {path.parent: groups})


def _projector_for(
    model: Group, folder: Path, top: Path, inside: dict[Path, list[Group]]
) -> Path | None:
    """Return the nearest suitable projector: the smallest of several, F16 rather than BF16."""
    while True:
        fitting = [
            projector
            for projector in inside.get(folder, [])
            if projector.facts.kind == "projector" and model.facts.fits_projector(projector.facts)
        ]
        if fitting:
            fitting.sort(key=lambda projector: projector.stem, reverse=True)
            return min(fitting, key=lambda projector: projector.size_bytes).files[0]
        if folder == top:
            return None
        folder = folder.parent


def _folders(
    folder: Path, scan: Scan, depth: int, visited: set[Inode]
) -> Iterator[tuple[Path, list[str]]]:
    """Yield `folder` and those below it, each with its file names.

    Each folder is visited once, even if links form a circle.
    """
    if not scan.watch(folder):
        return
    try:
        number = inode_of(folder)
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        below = {entry.name: entry.path for entry in entries if _is_folder(entry)}
    except NotADirectoryError:
        scan.notes.append(N_("{folder} was skipped: it is a file, not a folder.", folder=folder))
        return
    except OSError as error:
        scan.notes.append(skipped(folder, error))
        return
    if number in visited:
        return
    visited.add(number)
    yield folder, [entry.name for entry in entries if entry.name not in below]
    for name, path in below.items() if depth else ():
        if not name.startswith("."):
            yield from _folders(Path(path), scan, depth - 1, visited)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads to itself


def _complete_groups(folder: Path, names: list[str], scan: Scan) -> Iterator[Group]:
    """Yield the models, drafters and projectors among the files of a folder.

    Pieces that have to be joined, and parts without the first part, are noted.
    """
    noted: set[str] = set()
    for name in names:
        pieces = None if is_complete_name(name) else pieces_of(folder / name, names)
        if pieces is not None and pieces.file_name not in noted:
            noted.add(pieces.file_name)
            scan.notes.append(
                N_(
                    "{folder} was skipped. {why} {advice}",
                    folder=folder / name,
                    why=pieces.why,
                    advice=pieces.advice,
                )
            )
    for name in filter(is_complete_name, names):
        path = folder / name
        part = PART.match(name)
        if part is None:
            yield from _group(path.stem, (path,), scan)
        elif int(part["number"]) == 1:
            yield from _group(part["stem"], parts_of(path), scan)
        elif (first := first_part(path)).name not in names:
            scan.notes.append(
                N_(
                    "{file} was skipped. Not beside it: {missing}.",
                    file=path,
                    missing=first.name,
                )
            )


def _group(stem: str, files: tuple[Path, ...], scan: Scan) -> Iterator[Group]:
    try:
        size, inode = sum(require_regular(path).st_size for path in files), inode_of(files[0])
    except FileNotFoundError as error:
        missing = Path(error.filename)
        scan.watch(missing)  # a link into a cache can exist before its blob
        if missing != files[0]:
            missing_names = tuple(path.name for path in files if not path.exists())
            scan.notes.append(
                N_(
                    "{file} was skipped. Not beside it: {missing}.",
                    file=files[0],
                    missing=listed(missing_names),
                )
            )
        return
    except OSError as error:
        scan.notes.append(skipped(files[0], error))
        return
    facts = glance_at(files[0], scan)
    if facts is not None:
        yield Group(stem, files, size, inode, facts)


@cache
def _glance(path: Path, _size: int, _mtime_ns: int) -> Glance | None:
    return glance(path)
