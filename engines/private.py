"""Files and folders for their owner alone, whatever the umask says; and files that change at once.

What Hearth keeps tells of chats: nobody else on this computer is to read it. On Windows modes do
nothing, and what lies in a user's profile is closed to other accounts by the system itself.
"""

from __future__ import annotations

import glob
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

UNFINISHED: Final = ".part"
"""The end of a file's name while it is being written by `replacing`."""

_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)

_PATIENCE_S: Final = 2.0 if os.name == "nt" else 0.0
_LOOK_S: Final = 0.05

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""The bits of a mode for anyone but the owner. As an umask, they keep it from them."""


def private(path: str, flags: int) -> int:
    """Open a file, as the `opener` of `open`; one that this creates is its owner's alone.

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


def replace_file(source: Path, target: Path, patience_s: float = _PATIENCE_S) -> None:
    """Put a file in another one's place, or just there. Raises OSError.

    Windows refuses that while somebody has one of them open, as a virus scanner has each new file
    for a moment; elsewhere nobody is waited for.
    """
    until = time.monotonic() + patience_s
    while True:
        try:
            source.replace(target)
            return
        except PermissionError:
            if time.monotonic() >= until:
                raise
            time.sleep(_LOOK_S)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` to write into, which takes its place at the end of the block.

    So either all of it is there, or what was there before; also when several processes write at
    the same time. It is its owner's alone. Raises OSError.
    """
    unfinished = path.with_name(f".{path.name[:200]}.{os.getpid()}{UNFINISHED}")
    try:
        make_private_file(unfinished)
        yield unfinished
        replace_file(unfinished, path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Write a text as `replacing` does; it is on the disk then. Raises OSError."""
    with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def unfinished_of(path: Path) -> list[Path]:
    """List what `replacing` has left beside a file where a process was killed."""
    return list(path.parent.glob(f".{glob.escape(path.name[:200])}.*{UNFINISHED}"))


def exposed(path: Path) -> bool:
    """Tell whether somebody else may read a file or folder; links are not followed."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) or os.name == "nt":
        return False
    return bool(found.st_mode & OTHERS) or found.st_uid != os.geteuid()


def close_to_others(path: Path) -> bool:
    """Make a file or folder private; returns whether nobody else may read it now.

    Links are left alone, and so are a file with a further name, which may be another program's,
    and a folder that all accounts share, as that for temporary files.
    """
    try:
        found = path.lstat()
        shared = found.st_mode & stat.S_ISVTX or (
            stat.S_ISREG(found.st_mode) and found.st_nlink > 1
        )
        if exposed(path) and found.st_uid == os.geteuid() and not shared:
            path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
        return not exposed(path)
    except FileNotFoundError:
        return True  # another process has removed it
    except OSError:
        return False


def below(folder: Path) -> Iterator[Path]:
    """Yield everything in a folder and the folders in it, each before its contents.

    No link is followed. A folder that cannot be listed counts as empty.
    """
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from below(Path(entry.path))
