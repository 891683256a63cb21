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
class CommandResult:
    """The result of a command.

    Attributes:
        status: Exit code; None if the program does not exist.
        text: Standard output.
        errors: Standard error, which can contain warnings even on success.
        timed_out: The command did not end in time.
    """

    status: int | None
    text: str = ""
    errors: str = ""
    timed_out: bool = False

    @property
    def succeeded(self) -> bool:
        """True if the command ended with 0."""
        return self.status == 0

    @property
    def last(self) -> str:
        """The last line of the output that is not empty, or else of the errors."""
        rows = f"{self.errors}\n{self.text}".splitlines()
        return next((row.strip() for row in reversed(rows) if row.strip()), "")


@dataclass(frozen=True)
class ListedDistribution:
    """A distribution, and the version of WSL that it runs on."""

    name: str
    version: int


def decoded(data: bytes) -> str:
    """Decode output, which is UTF-16 without a byte order mark, or UTF-8 with WSL_UTF8.

    The output of a Linux command passes through unchanged.
    """
    text = data.decode("utf-16-le" if b"\0" in data else "utf-8", errors="replace")
    return text.replace("\ufeff", "").replace("\r\n", "\n")


def listed(names: str, table: str) -> tuple[ListedDistribution, ...]:
    """List the distributions, the default one first.

    Args:
        names: Output of `--list --quiet`.
        table: Output of `--list --verbose`, with the columns name, state and version; the state can
            consist of several words.
    """
    rows = [line.lstrip(" *").rstrip() for line in table.splitlines()]
    versions = {name: _version(name, rows) for name in map(str.strip, names.splitlines()) if name}
    return tuple(ListedDistribution(name, version) for name, version in versions.items() if version)


def judge_wsl2(
    status: CommandResult, names: CommandResult, table: CommandResult, preferred: str = ""
) -> Wsl2:
    """Judge the state of WSL2.

    Args:
        preferred: Name of a distribution to prefer to the default one.
    """
    if status.status is None:
        return Wsl2("absent")
    if status.timed_out or names.timed_out or table.timed_out:
        return Wsl2("silent")
    if not names.succeeded:
        # Without a distribution only the list fails; without WSL2 every command fails.
        return Wsl2("empty" if status.succeeded else "absent")
    distributions = [
        distribution
        for distribution in listed(names.text, table.text)
        if not _belongs_to_program(distribution.name)
    ]
    if not distributions:
        return Wsl2("empty")
    usable = [distribution.name for distribution in distributions if distribution.version == 2]
    if not usable:
        return Wsl2("old", distributions[0].name)
    return Wsl2("ready", preferred if preferred in usable else usable[0])


def _version(name: str, rows: Sequence[str]) -> int:
    """Return a distribution's version of WSL; 0 if the table does not contain it."""
    for row in rows:
        rest = row.removeprefix(name)
        if rest != row and rest[:1].isspace() and rest.split()[-1].isdigit():
            return int(rest.split()[-1])
    return 0


def _belongs_to_program(name: str) -> bool:
    return name.lower().startswith(_NOT_FOR_USERS)
