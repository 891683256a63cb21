"""Judges whether vLLM can be installed and run here, with a finding for each fact. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engines.sentences import N_, listed
from engines.vllm.provision.lock import Profile, Pythons
from engines.vllm.provision.windows import Wsl2, wsl_trouble

GLIBC = (2, 31)
"""The oldest glibc that the files of the lock run on."""

CUDA = (13, 0)
"""The lowest CUDA version that the driver needs to support for vLLM's official build."""

CAPABILITY = (7, 5)
"""The oldest cards that vLLM runs on: Turing, as in an RTX 20 or a T4."""

FREE_VRAM = 6_000_000_000
"""Bytes below which hardly any model with its context fits."""

RAM = 8_000_000_000
"""Bytes below which a worker's processes run short of main memory."""

FREE_DISK = 25_000_000_000
"""Bytes for the files, the environment, kernels, and the compilation at the first start."""

_DRIVER_OF_WINDOWS = N_(
    "Install NVIDIA's driver for Windows if there is such a card, and run “wsl "
    "--update”; install no driver inside WSL2. Otherwise use llama.cpp."
)
_GB = 1e9
_MACHINES = ("x86_64", "aarch64")


@dataclass(frozen=True)
class NvidiaCard:
    """An NVIDIA card.

    Attributes:
        capability: CUDA compute capability.
    """

    name: str
    capability: tuple[int, int]
    total_bytes: int
    free_bytes: int


@dataclass(frozen=True)
class SystemInfo:
    """The facts about a computer, as `system_info.look` found them.

    Attributes:
        system: "linux", "win32" or "darwin".
        cuda: Highest CUDA version that the driver supports; None without a driver.
        disk_bytes: Free bytes where the environment would lie.
        ram_bytes: Memory of the Linux inside Windows, which gets a part of the computer's; else 0.
        pythons: Installed versions of Python that can be used for an environment.
        headers: The first of the Pythons has its headers.
        in_wsl: This is Linux inside WSL2.
        wsl: State of WSL2 on Windows; if it is ready, all other facts are those of its Linux.
    """

    system: str
    machine: str
    glibc: tuple[int, int] | None
    driver: str = ""
    cuda: tuple[int, int] | None = None
    cards: tuple[NvidiaCard, ...] = ()
    disk_bytes: int = 0
    ram_bytes: int = 0
    compiler: str | None = None
    pythons: Pythons = ()
    headers: bool = False
    in_wsl: bool = False
    wsl: Wsl2 | None = None


@dataclass(frozen=True)
class Finding:
    """The verdict on one fact.

    Attributes:
        ok: All is well.
        warning: It is not, but the installation can go on.
        do: Advice; empty if all is well.
    """

    ok: bool
    what: str
    why: str
    do: str
    code: str
    warning: bool = False


def preflight(
    info: SystemInfo,
    profile: Profile,
    needed_bytes: int = 0,
    pythons: Pythons = (),
) -> tuple[Finding, ...]:
    """Judge each fact that decides whether vLLM can be installed, the basic ones first.

    Args:
        needed_bytes: Size of the profile's files and environment together.
        pythons: Versions that its lock is made for; if empty, any version will do.
    """
    if info.wsl is not None and info.wsl.state != "ready":
        return (Finding(False, *wsl_trouble(info.wsl), "wsl"),)
    if info.system != "linux":
        return (_system(info),)
    findings = [_system(info), _glibc(info)]
    if profile == "cuda":
        findings += _nvidia(info)
        findings += _ram(info)
    findings.append(_disk(info, max(needed_bytes, FREE_DISK if profile == "cuda" else 0)))
    if pythons:
        findings.append(_python(info, pythons))
    if profile == "cuda":
        findings += _compiler(info)
    return tuple(findings)


def first_obstacle(findings: tuple[Finding, ...]) -> Finding | None:
    """Return the first finding that prevents the installation."""
    return next((finding for finding in findings if not finding.ok and not finding.warning), None)


def _system(info: SystemInfo) -> Finding:
    if info.system != "linux":
        return Finding(
            False,
            N_("vLLM does not run on this system."),
            N_("It needs Linux and an NVIDIA card."),
            N_("Use llama.cpp here, or connect to a vLLM on another computer."),
            "system",
        )
    if info.machine not in _MACHINES:
        return Finding(
            False,
            N_("vLLM does not come for {machine} processors.", machine=info.machine),
            N_("It is built for 64-bit Intel, AMD and ARM processors."),
            N_("Use llama.cpp here, or connect to a vLLM on another computer."),
            "machine",
        )
    system_name = N_("Linux inside WSL2") if info.in_wsl else "Linux"
    if info.wsl is not None:
        system_name = N_("Linux inside WSL2, {name}", name=info.wsl.name)
    words = N_("{system} on {machine}", system=system_name, machine=info.machine)
    return _passed(words, "system")


def _glibc(info: SystemInfo) -> Finding:
    least = ".".join(map(str, GLIBC))
    if info.glibc is None:
        return Finding(
            False,
            N_("This Linux has no GNU C library."),
            N_("vLLM's files are built for it; Alpine, for example, has another one."),
            N_("Use a Linux with glibc {least} or newer, or a container with one.", least=least),
            "glibc",
        )
    version = ".".join(map(str, info.glibc))
    if info.glibc < GLIBC:
        return Finding(
            False,
            N_("The C library of this Linux is too old: glibc {now}.", now=version),
            N_("vLLM's files need glibc {least} or newer.", least=least),
            N_(
                "Update the system: Ubuntu 20.04, Debian 11 and Fedora 32 were the first to have "
                "it."
            ),
            "glibc",
        )
    return _passed(f"glibc {version}", "glibc")


def _nvidia(info: SystemInfo) -> Iterator[Finding]:
    if info.cuda is None or not info.cards:
        yield Finding(
            False,
            N_("No NVIDIA card with a driver was found."),
            N_("vLLM's official build runs on NVIDIA cards only, through NVIDIA's own driver."),
            _DRIVER_OF_WINDOWS
            if info.in_wsl
            else N_("Install NVIDIA's driver if there is such a card; otherwise use llama.cpp."),
            "driver",
        )
        return
    yield _cuda(info.driver, info.cuda)
    yield _capability(info.cards)
    yield _vram(info.cards)


def _cuda(driver: str, cuda: tuple[int, int]) -> Finding:
    version, least = (".".join(map(str, version)) for version in (cuda, CUDA))
    if cuda < CUDA:
        return Finding(
            False,
            N_("The NVIDIA driver {driver} is too old.", driver=driver),
            N_(
                "It supports CUDA up to {now}; this vLLM is built for CUDA {least}.",
                now=version,
                least=least,
            ),
            N_("Update the driver to version 580 or newer, then restart the computer."),
            "cuda",
        )
    return _passed(N_("NVIDIA driver {driver}, CUDA {now}", driver=driver, now=version), "cuda")


def _capability(cards: tuple[NvidiaCard, ...]) -> Finding:
    best = max(cards, key=lambda card: card.capability)
    capability, least = (".".join(map(str, version)) for version in (best.capability, CAPABILITY))
    if best.capability < CAPABILITY:
        return Finding(
            False,
            N_("The {name} is too old for vLLM.", name=best.name),
            N_(
                "Its compute capability is {now}; vLLM needs {least}, an RTX 20 or newer.",
                now=capability,
                least=least,
            ),
            N_("Use llama.cpp, which runs on older cards too."),
            "capability",
        )
    return _passed(
        N_("{name}, compute capability {now}", name=best.name, now=capability), "capability"
    )


def _vram(cards: tuple[NvidiaCard, ...]) -> Finding:
    best = max(cards, key=lambda card: card.free_bytes)
    free = N_(
        "{free_bytes} GB free of {total_bytes} GB",
        free_bytes=f"{best.free_bytes / _GB:.1f}",
        total_bytes=f"{best.total_bytes / _GB:.1f}",
    )
    if best.free_bytes < FREE_VRAM:
        return Finding(
            False,
            N_("Little of the {name}'s memory is free: {free}.", name=best.name, free=free),
            N_(
                "Few models fit with their context into less than {free_vram} GB.",
                free_vram=f"{FREE_VRAM / _GB:.0f}",
            ),
            N_("Close programs that use the card before you start vLLM."),
            "vram",
            warning=True,
        )
    return _passed(N_("{name}: {free}", name=best.name, free=free), "vram")


def _ram(info: SystemInfo) -> Iterator[Finding]:
    if not info.ram_bytes:
        return
    memory = f"{info.ram_bytes / _GB:.1f} GB"
    if info.ram_bytes < RAM:
        yield Finding(
            False,
            N_("WSL2 has little memory: {memory}.", memory=memory),
            N_(
                "vLLM's own processes need main memory, too, and more of it while a model is "
                "loaded."
            ),
            N_(
                "Raise “memory” under [wsl2] in .wslconfig in your Windows folder, then run "
                "“wsl --shutdown”."
            ),
            "ram",
            warning=True,
        )
        return
    yield _passed(N_("{memory} of memory in WSL2", memory=memory), "ram")


def _disk(info: SystemInfo, needed: int) -> Finding:
    free = f"{info.disk_bytes / _GB:.1f} GB"
    if info.disk_bytes < needed:
        return Finding(
            False,
            N_("There is not enough room on the disk: {free} are free.", free=free),
            N_(
                "Files and environment take up to {needed} GB while they are installed.",
                needed=f"{needed / _GB:.1f}",
            ),
            _more_room((needed - info.disk_bytes) / _GB, info),
            "disk",
        )
    return _passed(N_("{free} free on the disk", free=free), "disk")


def _more_room(gigabytes: float, info: SystemInfo) -> str:
    if info.wsl is not None:
        return N_(
            "Free {gigabytes} GB in Windows, where the disk of its Linux grows.",
            gigabytes=f"{gigabytes:.1f}",
        )
    return N_(
        "Free {gigabytes} GB, or move the data folder (HEARTH_DATA_DIR).",
        gigabytes=f"{gigabytes:.1f}",
    )


def _python(info: SystemInfo, pythons: Pythons) -> Finding:
    fitting = [python for python in pythons if python in info.pythons]
    if not fitting:
        versions = (f"{major}.{minor}" for major, minor in pythons)
        names = listed(versions, either=True)
        return Finding(
            False,
            N_("There is no Python {names} on this computer.", names=names),
            N_("This build of vLLM is made for that version, and an environment needs it."),
            N_(
                "Open {name} and run “sudo apt install python3”; Ubuntu 24.04 has 3.12.",
                name=info.wsl.name,
            )
            if info.wsl is not None
            else N_(
                "Install Python {names} so that uv or the command line finds it, then try again.",
                names=names,
            ),
            "python",
        )
    return _passed("Python {}.{}".format(*fitting[0]), "python")


def _compiler(info: SystemInfo) -> Iterator[Finding]:
    if info.compiler is None:
        yield Finding(
            False,
            N_("There is no C compiler."),
            N_("Kernels are compiled for this card when a model first starts."),
            N_("Install gcc (on Debian and Ubuntu: sudo apt install gcc python3-dev)."),
            "compiler",
            warning=True,
        )
    else:
        yield _passed(N_("There is a C compiler: {compiler}", compiler=info.compiler), "compiler")
    if info.pythons and not info.headers:
        python = "python{}.{}".format(*info.pythons[0])
        yield Finding(
            False,
            N_("Python’s headers are missing."),
            N_(
                "Kernels are compiled for this card when a model first starts, which needs "
                "Python.h."
            ),
            N_(
                "Install them: on Debian and Ubuntu “sudo apt install {python}-dev”, on Fedora "
                "“sudo "
                "dnf install python3-devel”.",
                python=python,
            ),
            "headers",
            warning=True,
        )


def _passed(what: str, code: str) -> Finding:
    return Finding(True, what, "", "", code)
