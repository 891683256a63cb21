"""Finds the Linux of a Windows that can be used, from what wsl.exe says: pure.

Source: Microsoft's reference of the commands of WSL. All but the names of distributions comes in
the user's language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engines.vllm.provision.windows import Wsl2

_NOT_FOR_USERS: Final = ("docker-desktop", "rancher-desktop", "podman-machine")
"""What the names of distributions begin with that are part of another program."""


@dataclass(frozen=True)
class Said:
    """The result of a command.

    status: None where there is no such program. late: it did not end. text: its output. errors: the
    rest, where warnings come even if all is well.
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
        """The last line that is not empty, of the output where there is one."""
        rows = f"{self.errors}\n{self.text}".splitlines()
        return next((it.strip() for it in reversed(rows) if it.strip()), "")


@dataclass(frozen=True)
class Listed:
    """A distribution. version: of WSL, which it runs on."""

    name: str
    version: int


def decoded(data: bytes) -> str:
    """Decode output: wsl.exe's own is UTF-16 without a mark, or UTF-8 where WSL_UTF8 is set.

    What a Linux command writes passes through as it is.
    """
    text = data.decode("utf-16-le" if b"\0" in data else "utf-8", errors="replace")
    return text.replace("\ufeff", "").replace("\r\n", "\n")


def listed(names: str, table: str) -> tuple[Listed, ...]:
    """List the distributions, the usual one first.

    names: of `--list --quiet`. table: of `--list --verbose`, whose columns are name, state and
    version; the state can be several words.
    """
    rows = [line.lstrip(" *").rstrip() for line in table.splitlines()]
    versions = {name: _version(name, rows) for name in map(str.strip, names.splitlines()) if name}
    return tuple(Listed(name, version) for name, version in versions.items() if version)


def wsl2(status: Said, names: Said, table: Said, wanted: str = "") -> Wsl2:
    """Judge what there is. wanted: the name of a distribution that goes before the usual one."""
    if status.status is None:
        return Wsl2("absent")
    if status.late or names.late or table.late:
        return Wsl2("silent")
    if not names.well:
        # Without a distribution the list is an error; without WSL2 all of it is.
        return Wsl2("empty" if status.well else "absent")
    found = [it for it in listed(names.text, table.text) if not _for_a_program(it.name)]
    if not found:
        return Wsl2("empty")
    usable = [it.name for it in found if it.version == 2]
    if not usable:
        return Wsl2("old", found[0].name)
    return Wsl2("ready", wanted if wanted in usable else usable[0])


def _version(name: str, rows: Sequence[str]) -> int:
    """Return a distribution's version of WSL; 0 where the table does not have it."""
    for row in rows:
        rest = row.removeprefix(name)
        if rest != row and rest[:1].isspace() and rest.split()[-1].isdigit():
            return int(rest.split()[-1])
    return 0


def _for_a_program(name: str) -> bool:
    return name.lower().startswith(_NOT_FOR_USERS)
