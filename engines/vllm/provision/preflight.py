"""Whether vLLM can be installed and run on a computer, a finding a line: pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engines.vllm.provision.lock import Profile, Pythons
from engines.vllm.provision.windows import Wsl2, trouble

GLIBC = (2, 31)
"""The oldest that the files of the lock run on."""

CUDA = (13, 0)
"""What the official build of vLLM needs of the driver."""

CAPABILITY = (7, 5)
"""The oldest cards that vLLM runs on: Turing, as in an RTX 20 or a T4."""

FREE_VRAM = 6_000_000_000
"""Bytes below which hardly a model with its context fits."""

RAM = 8_000_000_000
"""Bytes below which the processes of a worker are short of memory beside the card's."""

FREE_DISK = 25_000_000_000
"""Bytes for the files, the environment, kernels, and what is compiled at the first start."""

_DRIVER_OF_WINDOWS = (
    "Install NVIDIA's driver for Windows if there is such a card, and run `wsl --update`; inside "
    "WSL2 no driver is to be installed. Otherwise use llama.cpp."
)
_GB = 1e9
_MACHINES = ("x86_64", "aarch64")


@dataclass(frozen=True)
class Card:
    """An NVIDIA card. capability: of its computing units. free_bytes: of its memory."""

    name: str
    capability: tuple[int, int]
    total_bytes: int
    free_bytes: int


@dataclass(frozen=True)
class Facts:
    """What `facts.look` found. cuda: the highest that the driver speaks, None without a driver.

    system: "linux", "win32" or "darwin". in_wsl: this is Linux inside WSL2. wsl: how a Windows
    comes to its Linux; where that is ready, all else is what that Linux has. pythons: the versions
    of Python here that an environment can be made with. disk_bytes: free where it would lie.
    ram_bytes: of the Linux inside a Windows, which gets a part of the computer's; else 0.
    """

    system: str
    machine: str
    glibc: tuple[int, int] | None
    driver: str = ""
    cuda: tuple[int, int] | None = None
    cards: tuple[Card, ...] = ()
    disk_bytes: int = 0
    ram_bytes: int = 0
    compiler: str | None = None
    pythons: Pythons = ()
    in_wsl: bool = False
    wsl: Wsl2 | None = None


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    ok: all is well. warning: it is not, but the installation can go on. do: empty where all is.
    """

    ok: bool
    what: str
    why: str
    do: str
    code: str
    warning: bool = False


def preflight(
    facts: Facts,
    profile: Profile,
    needed_bytes: int = 0,
    pythons: Pythons = (),
) -> tuple[Finding, ...]:
    """Each thing that decides, the first ones first.

    needed_bytes: what the profile's files and environment take together. pythons: those that its
    lock is made for; with none named, any will do.
    """
    if facts.wsl is not None and facts.wsl.state != "ready":
        return (Finding(False, *trouble(facts.wsl), "wsl"),)
    if facts.system != "linux":
        return (_system(facts),)
    found = [_system(facts), _glibc(facts)]
    if profile == "cuda":
        found += _nvidia(facts)
        found += _ram(facts)
    found.append(_disk(facts, max(needed_bytes, FREE_DISK if profile == "cuda" else 0)))
    if pythons:
        found.append(_python(facts, pythons))
    if profile == "cuda":
        found.append(_compiler(facts))
    return tuple(found)


def hindered(findings: tuple[Finding, ...]) -> Finding | None:
    """The first finding that forbids the installation."""
    return next((it for it in findings if not it.ok and not it.warning), None)


def _system(facts: Facts) -> Finding:
    if facts.system != "linux":
        return Finding(
            False,
            "vLLM does not run on this system.",
            "It needs Linux and an NVIDIA card.",
            "Use llama.cpp here, or connect to a vLLM on another computer.",
            "system",
        )
    if facts.machine not in _MACHINES:
        return Finding(
            False,
            f"vLLM does not come for {facts.machine} processors.",
            "It is built for 64-bit Intel, AMD and ARM processors.",
            "Use llama.cpp here, or connect to a vLLM on another computer.",
            "machine",
        )
    where = "Linux inside WSL2" if facts.in_wsl else "Linux"
    if facts.wsl is not None:
        where = f"Linux inside WSL2, {facts.wsl.name}"
    return _well(f"{where} on {facts.machine}", "system")


def _glibc(facts: Facts) -> Finding:
    least = ".".join(map(str, GLIBC))
    if facts.glibc is None:
        return Finding(
            False,
            "This Linux has no GNU C library.",
            "vLLM's files are built for it; Alpine, for example, has another one.",
            f"Use a Linux with glibc {least} or newer, or a container with one.",
            "glibc",
        )
    now = ".".join(map(str, facts.glibc))
    if facts.glibc < GLIBC:
        return Finding(
            False,
            f"The C library of this Linux is too old: glibc {now}.",
            f"vLLM's files need glibc {least} or newer.",
            "Update the system: Ubuntu 20.04, Debian 11 and Fedora 32 were the first to have it.",
            "glibc",
        )
    return _well(f"glibc {now}", "glibc")


def _nvidia(facts: Facts) -> Iterator[Finding]:
    if facts.cuda is None or not facts.cards:
        yield Finding(
            False,
            "No NVIDIA card with a driver was found.",
            "vLLM's official build runs on NVIDIA cards only, through NVIDIA's own driver.",
            _DRIVER_OF_WINDOWS
            if facts.in_wsl
            else "Install NVIDIA's driver if there is such a card; otherwise use llama.cpp.",
            "driver",
        )
        return
    yield _cuda(facts.driver, facts.cuda)
    yield _capability(facts.cards)
    yield _vram(facts.cards)


def _cuda(driver: str, cuda: tuple[int, int]) -> Finding:
    now, least = (".".join(map(str, it)) for it in (cuda, CUDA))
    if cuda < CUDA:
        return Finding(
            False,
            f"The NVIDIA driver {driver} is too old.",
            f"It speaks CUDA up to {now}; this vLLM is built for CUDA {least}.",
            "Update the driver to version 580 or newer, then start the computer again.",
            "cuda",
        )
    return _well(f"NVIDIA driver {driver}, CUDA {now}", "cuda")


def _capability(cards: tuple[Card, ...]) -> Finding:
    best = max(cards, key=lambda it: it.capability)
    now, least = (".".join(map(str, it)) for it in (best.capability, CAPABILITY))
    if best.capability < CAPABILITY:
        return Finding(
            False,
            f"The {best.name} is too old for vLLM.",
            f"Its compute capability is {now}; vLLM needs {least}, an RTX 20 or newer.",
            "Use llama.cpp, which runs on older cards too.",
            "capability",
        )
    return _well(f"{best.name}, compute capability {now}", "capability")


def _vram(cards: tuple[Card, ...]) -> Finding:
    best = max(cards, key=lambda it: it.free_bytes)
    free = f"{best.free_bytes / _GB:.1f} GB free of {best.total_bytes / _GB:.1f} GB"
    if best.free_bytes < FREE_VRAM:
        return Finding(
            False,
            f"Little of the {best.name}'s memory is free: {free}.",
            f"Hardly a model with its context fits into less than {FREE_VRAM / _GB:.0f} GB.",
            "Close programs that use the card before you start vLLM.",
            "vram",
            warning=True,
        )
    return _well(f"{best.name}: {free}", "vram")


def _ram(facts: Facts) -> Iterator[Finding]:
    if not facts.ram_bytes:
        return
    there = f"{facts.ram_bytes / _GB:.1f} GB"
    if facts.ram_bytes < RAM:
        yield Finding(
            False,
            f"WSL2 has little memory: {there}.",
            "vLLM's own processes take some of it besides the card's, and more as a model is read.",
            "Raise `memory` under [wsl2] in .wslconfig in your Windows folder, then run "
            "`wsl --shutdown`.",
            "ram",
            warning=True,
        )
        return
    yield _well(f"{there} of memory in WSL2", "ram")


def _disk(facts: Facts, needed: int) -> Finding:
    free = f"{facts.disk_bytes / _GB:.1f} GB"
    if facts.disk_bytes < needed:
        return Finding(
            False,
            f"There is not enough room on the disk: {free} are free.",
            f"Files and environment take up to {needed / _GB:.1f} GB while they are installed.",
            _more_room((needed - facts.disk_bytes) / _GB, facts),
            "disk",
        )
    return _well(f"{free} free on the disk", "disk")


def _more_room(gigabytes: float, facts: Facts) -> str:
    if facts.wsl is not None:
        return f"Free {gigabytes:.1f} GB in Windows, where the disk of its Linux grows."
    return f"Free {gigabytes:.1f} GB, or move the data folder (HEARTH_DATA_DIR)."


def _python(facts: Facts, pythons: Pythons) -> Finding:
    fitting = [it for it in pythons if it in facts.pythons]
    if not fitting:
        names = " or ".join(f"{major}.{minor}" for major, minor in pythons)
        return Finding(
            False,
            f"There is no Python {names} here.",
            "This build of vLLM is made for that version, and an environment needs it.",
            f"Open {facts.wsl.name} and run `sudo apt install python3`; Ubuntu 24.04 has 3.12."
            if facts.wsl is not None
            else f"Install Python {names} so that uv or the command line finds it, then try again.",
            "python",
        )
    return _well("Python {}.{}".format(*fitting[0]), "python")


def _compiler(facts: Facts) -> Finding:
    if facts.compiler is None:
        return Finding(
            False,
            "There is no C compiler.",
            "Some models have kernels compiled for this card at their first start.",
            "Install gcc (on Debian and Ubuntu: sudo apt install gcc python3-dev).",
            "compiler",
            warning=True,
        )
    return _well(f"There is a C compiler: {facts.compiler}", "compiler")


def _well(what: str, code: str) -> Finding:
    return Finding(True, what, "", "", code)
