"""Translates Windows paths into paths inside WSL2. Pure."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

_SHARES: Final = ("wsl.localhost", "wsl$")
"""Windows' names for the disks of distributions, as in \\\\wsl.localhost\\NAME."""


def drives_at(outside: PurePath, inside: str) -> str:
    """Return the folder of Windows' drives inside WSL2, usually /mnt; "" on a Linux test system.

    Args:
        outside: A path on a drive, as Windows names it.
        inside: The same path as WSL2 names it.

    Raises:
        ValueError: The two paths differ.
    """
    rest = outside.as_posix()[len(outside.drive) :]
    if not inside.casefold().endswith(rest.casefold()):
        raise ValueError(f"{inside} is not {outside}")
    return inside[: len(inside) - len(rest)].rpartition("/")[0]


def reached(path: PurePath, drives: str, distribution: str) -> str | None:
    """Return a path as WSL2 names it, or None if WSL2 cannot reach it.

    Args:
        drives: Folder of Windows' drives inside WSL2; see `drives_at`.
    """
    posix_path, drive = path.as_posix(), path.drive.replace("\\", "/")
    if not drive:
        return posix_path
    rest, drive = posix_path[len(drive) :], drive.removeprefix("//?/")
    if drive.endswith(":"):
        return f"{drives}/{drive[0].lower()}{rest}"
    host, _, share = drive.removeprefix("//").partition("/")
    if host.lower() in _SHARES and share.casefold() == distribution.casefold():
        return rest
    return None
