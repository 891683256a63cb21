"""What is known of an engine that Hearth installs: what it takes, how far it is, how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engines.vllm.provision.lock import Profile
from engines.vllm.provision.preflight import Finding, hindered

__all__ = ["Check", "EngineState", "Phase", "Price", "Profile", "Step"]

Phase = Literal["look", "download", "install", "kernels", "try", "switch"]


@dataclass(frozen=True)
class Price:
    """What an installation takes.

    download_bytes: what still has to come. disk_bytes: what it fills at most while it is made;
    kept_bytes of them stay. minutes: a rough guess.
    """

    download_bytes: int
    disk_bytes: int
    kept_bytes: int
    minutes: int


@dataclass(frozen=True)
class Check:
    """price: None where no file of the lock suits this computer.

    linux: the distribution of WSL2 that it would be installed in, "" for this computer itself.
    """

    findings: tuple[Finding, ...]
    price: Price | None
    linux: str = ""

    @property
    def hindrance(self) -> Finding | None:
        """The first finding that forbids the installation."""
        return hindered(self.findings)


@dataclass(frozen=True)
class Step:
    """How far an installation is. share: of this phase, from 0 to 1. words: for people."""

    phase: Phase
    share: float
    words: str


@dataclass(frozen=True)
class EngineState:
    """version, previous: None where there is none. offered: what `install` would install.

    unfinished_bytes: what an installation that did not end has left to go on with. kept_bytes: what
    the installed versions take of the disk.
    """

    version: str | None
    profile: Profile | None
    previous: str | None
    offered: str
    unfinished_bytes: int = 0
    kept_bytes: int = 0
