"""The lock that ships with Hearth, and the choice of an environment's files from it.

A lock consists of two files: requirements with hashes, as uv writes and reads them, and the names,
sizes and hashes of the files. Neither contains addresses: those are in the user's configuration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from packaging.tags import Tag

Profile = Literal["cuda", "cpu"]
"""cuda: the official build, for NVIDIA cards. cpu: a build for processors, for tests."""

LockName = Literal["cuda", "cuda-ray", "cpu", "cpu-plain"]
"""The locks: one for each profile, "cuda-ray" with Ray for several computers, and "cpu-plain" with
the torch of the public index.
"""

Pythons = tuple[tuple[int, int], ...]
_OLDEST_GLIBC = 5
_OLD_NAMES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
"""The aliases in PEP 600, by the minor version of their glibc."""


@dataclass(frozen=True)
class LockedFile:
    """A wheel.

    Attributes:
        project: Its name in a package index.
        size: Size in bytes.
        sha256: Hash as 64 hexadecimal digits.
    """

    name: str
    project: str
    size: int
    sha256: str


@dataclass(frozen=True)
class TargetSystem:
    """The system that files have to suit.

    Attributes:
        machine: x86_64 or aarch64.
        glibc: Major and minor version.
        python: Major and minor version.
    """

    machine: str
    glibc: tuple[int, int]
    python: tuple[int, int]


@dataclass(frozen=True)
class Lock:
    """The files of one version of vLLM, by hash.

    Attributes:
        version: The version that vLLM reports, without a local part.
        distribution: Package that contains vLLM.
        pythons: Versions of Python that it is made for, best first.
        disk_bytes: Size of the finished environment.
        requirements: Text for uv.
        name: Name of the lock, if it has one.
    """

    profile: Profile
    version: str
    distribution: str
    pythons: Pythons
    disk_bytes: int
    requirements: str
    files: tuple[LockedFile, ...]
    name: LockName | None = None

    @cached_property
    def digest(self) -> str:
        """A hash that identifies this set of files."""
        return hashlib.sha256(self.requirements.encode()).hexdigest()

    @property
    def hears(self) -> bool:
        """True if it contains the decoder that vLLM uses for WAV, MP3 and FLAC."""
        return any(file.project == "soundfile" for file in self.files)

    def chosen(self, target: TargetSystem) -> tuple[LockedFile, ...]:
        """Choose the file that suits the target best for each requirement that applies.

        Raises LookupError with the name of a requirement for which no file suits.
        """
        from packaging.requirements import Requirement

        rank_of_tag = {tag: number for number, tag in enumerate(_tags(target))}
        chosen = []
        for line in _lines(self.requirements):
            needed = Requirement(line)
            if needed.marker is not None and not needed.marker.evaluate(_environment(target)):
                continue
            chosen.append(_best(needed.name, str(needed.specifier), self.files, rank_of_tag))
        return tuple(chosen)


def read_lock(folder: Path, name: LockName) -> Lock:
    """Read a lock from a folder of locks."""
    facts: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    files = (
        LockedFile(file, _project(file), size, sha256)
        for file, (size, sha256) in facts["files"].items()
    )
    return Lock(
        "cuda" if name in ("cuda", "cuda-ray") else "cpu",
        facts["version"],
        facts["distribution"],
        tuple((int(major), int(minor)) for major, minor in facts["pythons"]),
        facts["disk_bytes"],
        (folder / f"{name}.txt").read_text(encoding="utf-8"),
        tuple(files),
        name,
    )


def read_tool(folder: Path, name: str, machine: str) -> LockedFile:
    """Read a program's wheel from a folder of locks. Raises LookupError with the program's name."""
    files: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    for file, (size, sha256) in files.items():
        if file.endswith(f"_{machine}.whl"):
            return LockedFile(file, _project(file), size, sha256)
    raise LookupError(name)


def _lines(requirements: str) -> list[str]:
    """Return the requirements without their hashes."""
    joined = requirements.replace("\\\n", " ").splitlines()
    return [line.partition(" --hash=")[0].strip() for line in joined if line.strip()]


def _best(
    name: str, version: str, files: Sequence[LockedFile], rank_of_tag: dict[Tag, int]
) -> LockedFile:
    from packaging.utils import canonicalize_name, parse_wheel_filename

    best: tuple[int, LockedFile] | None = None
    for file in files:
        if file.project != canonicalize_name(name):
            continue
        _, file_version, _, tags = parse_wheel_filename(file.name)
        if f"=={file_version}" != version:
            continue
        fitting = min((rank_of_tag[tag] for tag in tags if tag in rank_of_tag), default=None)
        if fitting is not None and (best is None or fitting < best[0]):
            best = fitting, file
    if best is None:
        raise LookupError(name)
    return best[1]


def _tags(target: TargetSystem) -> list[Tag]:
    """List the tags that suit the target, best first."""
    from packaging.tags import compatible_tags, cpython_tags

    platforms = _platforms(target)
    major, minor = target.python
    return [
        *cpython_tags(target.python, platforms=platforms),
        *compatible_tags(target.python, f"cp{major}{minor}", platforms),
    ]


def _platforms(target: TargetSystem) -> list[str]:
    major, newest = target.glibc
    platforms = []
    for minor in range(newest, _OLDEST_GLIBC - 1, -1):
        platforms.append(f"manylinux_{major}_{minor}_{target.machine}")
        if minor in _OLD_NAMES:
            platforms.append(f"{_OLD_NAMES[minor]}_{target.machine}")
    return [*platforms, f"linux_{target.machine}"]


def _environment(target: TargetSystem) -> dict[str, str]:
    """Return the values for the markers of requirements (PEP 508)."""
    version = ".".join(map(str, target.python))
    return {
        "implementation_name": "cpython",
        "implementation_version": f"{version}.0",
        "os_name": "posix",
        "platform_machine": target.machine,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": f"{version}.0",
        "python_version": version,
        "sys_platform": "linux",
    }


def _project(name: str) -> str:
    from packaging.utils import canonicalize_name

    return canonicalize_name(name.split("-", 1)[0])
