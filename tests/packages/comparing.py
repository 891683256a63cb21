"""Compare two folders or two packages of Debian, file by file."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from pathlib import Path


def contents(folder: Path) -> dict[str, str]:
    """Describe everything in a folder by name: kind, mode, time, and the hash of the bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        its = path.lstat()
        if path.is_symlink():
            told = f"link to {path.readlink()}"
        elif path.is_dir():
            told = f"folder, mode {stat.S_IMODE(its.st_mode):o}, of {its.st_mtime:.0f}"
        else:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            told = f"{digest}, mode {stat.S_IMODE(its.st_mode):o}, of {its.st_mtime:.0f}"
        found[path.relative_to(folder).as_posix()] = told
    return found


def differences(one: Path, other: Path) -> list[str]:
    """Name the differences between two folders: entries of only one, and entries that differ."""
    first, second = contents(one), contents(other)
    return [
        f"{name}: {first.get(name, 'not there')} / {second.get(name, 'not there')}"
        for name in sorted(first.keys() | second.keys())
        if first.get(name) != second.get(name)
    ]


def copy_of_the_tree(root: Path, into: Path) -> Path:
    """Copy the files that git tracks or would add, as they are now."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others"]
    listed = subprocess.run([*command, "--exclude-standard"], stdout=subprocess.PIPE, check=True)
    for name in sorted(set(listed.stdout.split(b"\0")) - {b""}):
        source, copy = root / os.fsdecode(name), into / os.fsdecode(name)
        if source.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
            copy.chmod(source.stat().st_mode)
    return into
