"""Finds a usable WSL2 distribution in the output of wsl.exe. Pure.

Source: Microsoft's reference of WSL commands. Only the names of distributions are the same in every
language; all other output is in the user's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engines.vllm.provision.windows import Wsl2

_NOT_FOR_USERS: Final = ("docker-desktop", "rancher-desktop", "podman-machine")
"""Prefixes of the names of distributions that belong to other programs."""


@dataclass(frozen=True)
class Said:
    """The result of a command.

    Attributes:
        status: Exit code; None if the program does not exist.
        text: Standard output.
        errors: Standard error, which can contain warnings even on success.
        late: The command did not end in time.
    """

    status: int | None
    text: str = ""
    errors: str = ""
    late: bool = False

    @property
    def well(self) -> bool:
        return self.status == 0

    @property
    def last(self) -> str:
        """The last line of the output that is not empty, or else of the errors."""
        rows = f"{self.errors}\n{self.text}".splitlines()
        return next((it.strip() for it in reversed(rows) if it.strip()), "")


@dataclass(frozen=True)
class Listed:
    """A distribution, and the version of WSL that it runs on."""

    name: str
    version: int


def decoded(data: bytes) -> str:
    """Decode output, which is UTF-16 without a byte order mark, or UTF-8 with WSL_UTF8.

    The output of a Linux command passes through unchanged.
    """
    text = data.decode("utf-16-le" if b"\0" in data else "utf-8", errors="replace")
    return text.replace("\ufeff", "").replace("\r\n", "\n")


def listed(names: str, table: str) -> tuple[Listed, ...]:
    """List the distributions, the default one first.

    Args:
        names: Output of `--list --quiet`.
        table: Output of `--list --verbose`, with the columns name, state and version; the state can
            consist of several words.
    """
    rows = [line.lstrip(" *").rstrip() for line in table.splitlines()]
    versions = {name: _version(name, rows) for name in map(str.strip, names.splitlines()) if name}
    return tuple(Listed(name, version) for name, version in versions.items() if version)


def wsl2(status: Said, names: Said, table: Said, wanted: str = "") -> Wsl2:
    """Judge the state of WSL2.

    Args:
        wanted: Name of a distribution to prefer to the default one.
    """
    if status.status is None:
        return Wsl2("absent")
    if status.late or names.late or table.late:
        return Wsl2("silent")
    if not names.well:
        # Without a distribution only the list fails; without WSL2 every command fails.
        return Wsl2("empty" if status.well else "absent")
    found = [it for it in listed(names.text, table.text) if not _for_a_program(it.name)]
    if not found:
        return Wsl2("empty")
    usable = [it.name for it in found if it.version == 2]
    if not usable:
        return Wsl2("old", found[0].name)
    return Wsl2("ready", wanted if wanted in usable else usable[0])


def _version(name: str, rows: Sequence[str]) -> int:
    """Return a distribution's version of WSL; 0 if the table does not contain it."""
    for row in rows:
        rest = row.removeprefix(name)
        if rest != row and rest[:1].isspace() and rest.split()[-1].isdigit():
            return int(rest.split()[-1])
    return 0


def _for_a_program(name: str) -> bool:
    return name.lower().startswith(_NOT_FOR_USERS)
