"""The installation of an engine as values: what it takes, how far it is, whether it is possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engines.vllm.provision.lock import LockName, Profile
from engines.vllm.provision.preflight import Finding, hindered

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


@dataclass(frozen=True)
class Price:
    """The download, disk space and time that an installation takes.

    download_bytes: what still has to come. disk_bytes: the most that it fills while it is made;
    kept_bytes of them stay. minutes: a rough guess.
    """

    download_bytes: int
    disk_bytes: int
    kept_bytes: int
    minutes: int


@dataclass(frozen=True)
class Check:
    """The result of checking whether an engine can be installed.

    price: None where no file of the lock suits this computer. linux: the distribution of WSL2 that
    it would be installed in, "" for this computer itself.
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
    """An installation's progress: its phase, the share of that (0 to 1), and words for people."""

    phase: Phase
    share: float
    words: str


@dataclass(frozen=True)
class InstallState:
    """The versions of an engine: installed, previous and on offer.

    version, previous: None where there is none. offered: what `install` would install. outdated:
    that is not what is in use, be it of the same version with other files.
    unfinished_bytes: what an installation that did not end has left to go on with. kept_bytes: what
    the installed versions take of the disk.
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

    name: as settings have it. why: a sentence, if refused.
    total_bytes, free_bytes: 0 where it does not say. usual: used where the settings name none.
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
    """The state of vLLM's worker. words, share: how far its start is.

    memory_bytes: what its processes hold of this computer's memory; memory_once: what they share is
    counted once in that, and not for each of them. idle_s: seconds since its last answer;
    stops_after_s: when it is ended for that, 0 never. log: its last lines. others: it is another
    Hearth's, or a command has left it, and so many processes use it; None for this one's own.
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
    """A worker of vLLM's that a command has left for the next one, or that another Hearth uses.

    process: its first one's number. users: processes that use it. left_s: seconds after which it
    ends by itself, None while somebody uses it.
    """

    model: str
    process: int
    users: int
    left_s: float | None
