"""The packages that are tried: those of this tree, and the same as an older version."""

from __future__ import annotations

import subprocess
from pathlib import Path


class NoPackageError(Exception):
    """What is to be tried is not there; the text says how it is made."""


def newest(folder: Path, pattern: str) -> Path:
    """Return the package of this kind that was made last. Raises NoPackageError."""
    found = max(folder.glob(pattern), key=lambda it: it.stat().st_mtime, default=None)
    if found is None:
        raise NoPackageError(f"{folder} has no {pattern}: python3 installers/build.py deb tar")
    return found


def field(deb: Path, name: str) -> str:
    """Return what a .deb says of itself under this name."""
    return _dpkg("--field", deb, name).strip()


def older(deb: Path, into: Path) -> Path:
    """Make the version before out of a .deb: the same files, under a number that is lower.

    Nothing is packed, which would take a minute.
    """
    number = f"{field(deb, 'Version')}~before"
    tree = into / "older"
    _dpkg("--raw-extract", deb, tree)
    control = tree / "DEBIAN" / "control"
    lines = control.read_text("utf-8").splitlines()
    changed = [f"Version: {number}" if it.startswith("Version:") else it for it in lines]
    control.write_text("\n".join(changed) + "\n", "utf-8")
    made = into / f"older_{deb.name}"
    _dpkg("--root-owner-group", "-Znone", "--build", tree, made)
    return made


def _dpkg(*words: str | Path) -> str:
    return subprocess.run(
        ["dpkg-deb", *map(str, words)], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
