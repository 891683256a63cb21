"""Files and folders for their owner alone, whatever the umask says.

What Hearth keeps tells of chats: nobody else on this computer is to read it. On Windows modes do
nothing, and what lies in a user's profile is closed to other accounts by the system itself.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""What a mode allows to anyone but the owner. As an umask, it keeps it from them."""


def private(path: str, flags: int) -> int:
    """Open a file, as the `opener` of `open`; one that this makes is its owner's alone.

    A pipe that lies in a file's place is not waited for: it reads as empty, and writing fails.
    """
    return os.open(path, flags | _AT_ONCE, 0o600)


def make_private_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone. Raises OSError."""
    if not path.parent.exists():
        make_private_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file for its owner alone, unless there is a file. Raises OSError."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))


def exposed(path: Path) -> bool:
    """Whether somebody else may read a file or folder, and not through a link that lies there."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) or os.name == "nt":
        return False
    return bool(found.st_mode & OTHERS) or found.st_uid != os.geteuid()


def close_to_others(path: Path) -> bool:
    """Take a file or folder of one's own from all others; whether nobody else may read it now.

    Links are left alone, and so is a folder that all accounts share, as that for temporary files.
    """
    try:
        found = path.lstat()
        if exposed(path) and found.st_uid == os.geteuid() and not found.st_mode & stat.S_ISVTX:
            path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
        return not exposed(path)
    except FileNotFoundError:
        return True  # another process has removed it
    except OSError:
        return False


def below(folder: Path) -> Iterator[Path]:
    """Everything in a folder and the folders in it, each before what it holds; no link is
    followed. What cannot be listed holds nothing."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from below(Path(entry.path))
