"""Files and folders that only their owner can read, whatever the umask; and atomic replacement.

Hearth's files reveal chats, so nobody else on this computer should read them. On Windows file modes
have no effect, and the system itself closes a user's profile to other accounts.
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
"""The suffix of a file's name while `replacing` writes it."""

_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)

_PATIENCE_S: Final = 2.0 if os.name == "nt" else 0.0
_RETRY_S: Final = 0.05

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""The mode bits for everybody but the owner. As a umask, they close new files to others."""


def private(path: str, flags: int) -> int:
    """Open a file, as the `opener` of `open`; a new file is readable by its owner only.

    A pipe in the file's place is not waited for: it reads as empty, and writing to it fails.
    """
    return os.open(path, flags | _AT_ONCE, 0o600)


def make_private_folder(path: Path) -> None:
    """Make a folder and its missing parents for its owner only. Raises OSError."""
    if not path.parent.exists():
        make_private_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Make an empty file for its owner only, unless the file exists. Raises OSError."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))


def replace_file(source: Path, target: Path, patience_s: float = _PATIENCE_S) -> None:
    """Move a file to `target`, replacing any file there. Raises OSError.

    Windows refuses this while a program has one of the files open, as a virus scanner briefly
    does with each new file, so there this retries for `patience_s` seconds; on other systems it
    does not wait.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            source.replace(target)
            return
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_RETRY_S)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a file beside `path` to write to, which replaces it at the end of the block.

    So `path` has either all of the new content or the old one, even if several processes write at
    the same time. Only the owner can read the file. Raises OSError.
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
    """Write a text as `replacing` does, and flush it to the disk. Raises OSError."""
    with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def unfinished_of(path: Path) -> list[Path]:
    """List the files that killed processes left beside `path` in `replacing`."""
    return list(path.parent.glob(f".{glob.escape(path.name[:200])}.*{UNFINISHED}"))


def readable_by_others(path: Path) -> bool:
    """Return whether other accounts may read a file or folder; links are not followed."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode) or os.name == "nt":
        return False
    return bool(status.st_mode & OTHERS) or status.st_uid != os.geteuid()


def close_to_others(path: Path) -> bool:
    """Make a file or folder private; return whether only its owner can read it now.

    Links are left alone, and so are a file with further hard links, which may belong to another
    program, and a folder that all accounts share, such as the one for temporary files.
    """
    try:
        status = path.lstat()
        shared = status.st_mode & stat.S_ISVTX or (
            stat.S_ISREG(status.st_mode) and status.st_nlink > 1
        )
        if readable_by_others(path) and status.st_uid == os.geteuid() and not shared:
            path.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS)
        return not readable_by_others(path)
    except FileNotFoundError:
        return True  # another process has removed it
    except OSError:
        return False


def walk(folder: Path) -> Iterator[Path]:
    """Yield everything in a folder and its subfolders, each folder before its contents.

    Links are not followed. A folder that cannot be listed counts as empty.
    """
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from walk(Path(entry.path))
