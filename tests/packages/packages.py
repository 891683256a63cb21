"""The packages under test: those of this tree, and the same ones as an older version."""

from __future__ import annotations

import subprocess
from pathlib import Path


class NoPackageError(Exception):
    """A package is missing; the text says how it is made."""


def newest(folder: Path, pattern: str) -> Path:
    """Return the most recent package of this kind.

    Raises:
        NoPackageError: There is none.
    """
    found = max(folder.glob(pattern), key=lambda it: it.stat().st_mtime, default=None)
    if found is None:
        raise NoPackageError(f"{folder} has no {pattern}: python3 installers/build.py deb tar")
    return found


def field(deb: Path, name: str) -> str:
    """Return the value of a field in a .deb."""
    return _dpkg("--field", deb, name).strip()


def older(deb: Path, into: Path) -> Path:
    """Make an older version of a .deb: the same files, with a lower version number.

    Nothing is compressed, which would take a minute.
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
