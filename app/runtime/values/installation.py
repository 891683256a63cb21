"""The installation of an engine as values: its price, its progress, and whether it is possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engines.vllm.provision.lock import LockName, Profile
from engines.vllm.provision.preflight import Finding, first_obstacle

__all__ = [
    "Check",
    "Device",
    "InstallState",
    "LockName",
    "Phase",
    "Price",
    "Profile",
    "StayingWorker",
    "Step",
    "WorkerState",
]  # fmt: skip

Phase = Literal["look", "download", "install", "kernels", "try", "switch"]
"""The phases of an installation, in order."""


@dataclass(frozen=True)
class Price:
    """The download, the disk space and the time that an installation takes.

    Attributes:
        download_bytes: Bytes that are still to be downloaded.
        disk_bytes: Maximum disk space during the installation.
        kept_bytes: Disk space after it.
        minutes: A rough guess.
    """

    download_bytes: int
    disk_bytes: int
    kept_bytes: int
    minutes: int


@dataclass(frozen=True)
class Check:
    """The result of checking whether an engine can be installed.

    Attributes:
        price: None if no file of the lock suits this computer.
        linux: The WSL2 distribution that it would be installed in; "" for this computer itself.
    """

    findings: tuple[Finding, ...]
    price: Price | None
    linux: str = ""

    @property
    def hindrance(self) -> Finding | None:
        """The first finding that forbids the installation; None if nothing does."""
        return first_obstacle(self.findings)


@dataclass(frozen=True)
class Step:
    """The progress of an installation.

    Attributes:
        share: The done part of the phase, 0 to 1.
        words: A description for people.
    """

    phase: Phase
    share: float
    words: str


@dataclass(frozen=True)
class InstallState:
    """The versions of an engine: installed, previous and on offer.

    Attributes:
        version: The installed version; None for none.
        previous: The version to roll back to; None for none.
        offered: The version that `install` would install.
        unfinished_bytes: Bytes of an unfinished installation that the next one continues.
        kept_bytes: Disk space of the installed versions.
        outdated: The version on offer is not the one in use, or has other files.
    """

    version: str | None
    profile: Profile | None
    previous: str | None
    offered: str
    unfinished_bytes: int = 0
    kept_bytes: int = 0
    outdated: bool = False


@dataclass(frozen=True)
class Device:
    """A graphics card, or another device that llama.cpp can compute on.

    Attributes:
        name: Its name in the settings.
        total_bytes: Its memory; 0 if unknown.
        free_bytes: Its free memory; 0 if unknown.
        why: A sentence if it was refused.
        usual: It is used if the settings name no device.
    """

    name: str
    title: str
    total_bytes: int
    free_bytes: int
    state: Literal["untried", "works", "refused"]
    why: str = ""
    usual: bool = True


@dataclass(frozen=True)
class WorkerState:
    """The state of vLLM's worker.

    Attributes:
        words: What its start is doing.
        share: The progress of its start, 0 to 1.
        memory_bytes: This computer's memory that its processes hold.
        memory_once: Memory shared by its processes is counted once in that, not once per process.
        idle_s: Seconds since its last answer.
        stops_after_s: Idle seconds after which it is stopped; 0 for never.
        log: The last lines of its log.
        others: The number of processes that use it if it is another Hearth's or was left by a
            command; None for this Hearth's own worker.
    """

    state: Literal["stopped", "loading", "ready"]
    model: str = ""
    words: str = ""
    share: float = 0.0
    memory_bytes: int = 0
    memory_once: bool = True
    idle_s: float = 0.0
    stops_after_s: float = 0.0
    log: tuple[str, ...] = ()
    others: int | None = None


@dataclass(frozen=True)
class StayingWorker:
    """A vLLM worker that a command has left for the next one, or that another Hearth uses.

    Attributes:
        process: The id of its first process.
        users: The number of processes that use it.
        left_s: Seconds until it ends by itself; None while it is in use.
    """

    model: str
    process: int
    users: int
    left_s: float | None
