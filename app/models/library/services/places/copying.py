"""Copies a model into Hearth's own folder: completely and verified, or not at all."""

from __future__ import annotations

import contextlib
import shutil
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from app.base.errors import DiskFull, ModelDiffers
from app.base.folder import as_user_errors
from app.models.library.services.places.hashing import (
    Progress,
    Share,
    open_model,
    pieces_of,
    read_error,
    sha256_of,
    write_hashed,
)
from engines.cancel import CancelToken
from engines.disk import free_bytes
from engines.private import replace_file
from engines.sentences import N_
from engines.text import amount

SPARE: Final = 256 << 20
"""Bytes that stay free on the disk beside a copy."""
ABANDONED_S: Final = 3600.0
"""An unfinished file that was not written to for this many seconds is abandoned."""


@dataclass(frozen=True)
class CopiedFile:
    """A file of a copy.

    Attributes:
        sha256: Of the source, and of the copy as read back from the disk.
    """

    path: Path
    sha256: str


def copy_model(
    files: tuple[Path, ...], own: Path, progress: Progress, cancel: CancelToken, name: str
) -> list[CopiedFile]:
    """Copy the parts of a model into a new folder in `own`; an error leaves nothing of the copy.

    Args:
        name: Name of the new folder.

    Raises:
        DiskFull, DataFolderReadOnly, ModelNotRead, ModelDiffers, Cancelled
    """
    _sweep(own)
    sizes = _sizes(files)
    do = N_("Free some space, or add the file without copying it.")
    require_disk_space(sum(sizes), own, do)
    share = Share(2 * sum(sizes), progress)
    folder = new_folder(own, name)
    try:
        return [_copy(source, folder / source.name, share, cancel) for source in files]
    except BaseException:
        shutil.rmtree(folder)
        raise


def _sweep(own: Path) -> None:
    """Remove the copies of killed processes; a live process writes constantly.

    Links are left alone: their targets do not belong to Hearth.
    """
    for part in own.glob("*/*.part"):
        if own.is_symlink() or part.parent.is_symlink():
            continue
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > ABANDONED_S:
                part.unlink()
                part.parent.rmdir()


def _copy(source: Path, target: Path, share: Share, cancel: CancelToken) -> CopiedFile:
    part = target.with_name(f"{target.name}.part")
    with open_model(source) as file:
        digest = write_hashed(part, pieces_of(file, source, cancel), share)
    if sha256_of(part, share, cancel) != digest:
        raise ModelDiffers(
            N_("“{name}” was not copied.", name=source.name),
            N_("What was read back from the disk is not what was written there."),
            N_("Check the disk; then try again."),
        )
    with as_user_errors(target):
        replace_file(part, target)
    return CopiedFile(target, digest)


def _sizes(files: tuple[Path, ...]) -> list[int]:
    sizes: list[int] = []
    for path in files:
        try:
            sizes.append(path.stat().st_size)
        except OSError as error:
            raise read_error(path, error) from error
    return sizes


def require_disk_space(
    needed: int, folder: Path, do: str = N_("Free some space, then try again.")
) -> None:
    """Refuse to write files that leave too little space on the disk.

    Args:
        needed: Their size in bytes.
        folder: The folder that they go to.
        do: The advice if there is too little space.

    Raises:
        DiskFull: There is too little space.
    """
    free = free_bytes(folder)
    if free < needed + SPARE:
        raise DiskFull(
            N_("There is not enough room on the disk."),
            N_(
                "{needed} are needed; {free} are free where {folder} is, and {spare} of them are "
                "kept free.",
                needed=amount(needed),
                free=amount(free),
                folder=folder,
                spare=amount(SPARE),
            ),
            do,
        )


def new_folder(own: Path, stem: str) -> Path:
    """Create a folder for a copy, with a number if needed, so that nothing is overwritten.

    This is safe against other processes that do the same.
    """
    with as_user_errors(own):
        for number in count(1):
            folder = own / (stem if number == 1 else f"{stem}-{number}")
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                return folder
    raise AssertionError("count() ends")
