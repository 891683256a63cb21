"""Disk space for downloads: checked before one begins, with figures in the error if it is short."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from app.base.errors import DiskFull
from app.base.folder import as_user_errors
from engines.disk import free_bytes
from engines.sentences import N_
from engines.text import amount

SPARE = 200_000_000
"""Bytes that stay free on a disk, for the system and for chats."""


def require_disk_space(folder: Path, needed: int, promised: int) -> None:
    """Refuse a download that does not fit on the disk.

    Args:
        needed: Bytes that the download still has to take.
        promised: Bytes that other downloads still have to take.

    Raises:
        DiskFull: There is too little space.
    """
    free = free_bytes(folder)
    if needed + promised + SPARE > free:
        raise no_room(folder, needed, promised, free)


def no_room(folder: Path, needed: int, promised: int, free: int) -> DiskFull:
    """Make the error for a download that does not fit; the arguments are in bytes."""
    other_downloads = (
        N_(" and {promised} that other downloads still take", promised=amount(promised))
        if promised
        else ""
    )
    short = needed + promised + SPARE - free
    return DiskFull(
        N_("There is not enough room on the disk for this download."),
        N_(
            "It takes {needed} more{others}; {free} are free where {folder} is, and {spare} of "
            "them are kept free.",
            needed=amount(needed),
            others=other_downloads,
            free=amount(free),
            folder=folder,
            spare=amount(SPARE),
        ),
        N_(
            "Free {short} or more, or set HF_HOME to a folder on a larger disk, then resume.",
            short=amount(short),
        ),
    )


def as_download_errors(folder: Path, remaining: int) -> AbstractContextManager[None]:
    """Turn the system's errors while writing into errors for the user.

    Args:
        folder: The folder of downloads.
        remaining: Bytes that are still to come.
    """
    full = DiskFull(
        N_("The disk filled up during the download."),
        N_(
            "{left} are still missing in {folder}; what was downloaded is kept.",
            left=amount(remaining),
            folder=folder,
        ),
        N_("Free that much space, then resume the download."),
    )
    do = N_(
        "Check the disk and allow writing to that folder, or set HF_HOME to another one; then "
        "resume."
    )
    return as_user_errors(folder, full=full, do=do)
