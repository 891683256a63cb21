"""Translates paths of Windows into those of the Linux inside it: pure."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

_SHARES: Final = ("wsl.localhost", "wsl$")
"""What Windows calls the disks of its distributions: \\\\wsl.localhost\\NAME."""


def drives_at(outside: PurePath, inside: str) -> str:
    """Find the folder of Windows' drives, usually /mnt; "" on a Linux that plays Windows.

    Told by a path on a drive that both names are known of. Raises ValueError where they differ.
    """
    rest = outside.as_posix()[len(outside.drive) :]
    if not inside.casefold().endswith(rest.casefold()):
        raise ValueError(f"{inside} is not {outside}")
    return inside[: len(inside) - len(rest)].rpartition("/")[0]


def reached(path: PurePath, drives: str, distribution: str) -> str | None:
    """Return the path inside; None where there is none. drives: `drives_at`."""
    whole, drive = path.as_posix(), path.drive.replace("\\", "/")
    if not drive:
        return whole
    rest, drive = whole[len(drive) :], drive.removeprefix("//?/")
    if drive.endswith(":"):
        return f"{drives}/{drive[0].lower()}{rest}"
    host, _, share = drive.removeprefix("//").partition("/")
    if host.lower() in _SHARES and share.casefold() == distribution.casefold():
        return rest
    return None
