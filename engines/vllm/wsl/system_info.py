"""Examines the Linux inside Windows with one shell command, which needs no Python there."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from engines.vllm.provision.lock import Pythons
from engines.vllm.provision.preflight import NvidiaCard, SystemInfo
from engines.vllm.provision.windows import Wsl2
from engines.vllm.wsl.scripts import ASK

_MIB: Final = 1 << 20


def question(folder: PurePath, pythons: Pythons) -> list[str]:
    """Return the words of the command; `folder` is a Windows folder that WSL2 has to see."""
    programs = [f"python{major}.{minor}" for major, minor in pythons]
    return ["sh", "-c", ASK, "hearth", folder.as_posix(), *programs]


def system_info_of(text: str, name: str, windows_free: int) -> SystemInfo | None:
    """Read the output of the command; return None if it is incomplete.

    Args:
        name: Name of the distribution.
        windows_free: Free bytes on Windows' disk, on which the Linux disk is a file that grows.
    """
    from engines.vllm.provision.system_info import glibc, machine

    rows = [line.partition(" ")[::2] for line in text.splitlines()]
    if ("over", "") not in rows:
        return None
    facts = {key: value.strip() for key, value in reversed(rows) if value.strip()}
    cards = tuple(_card(value) for key, value in rows if key == "card" and value.count(",") > 3)
    driver, cuda = (facts["card"].partition(",")[0], _cuda(facts)) if cards else ("", None)
    return SystemInfo(
        system="linux",
        machine=machine(facts.get("machine", "")),
        glibc=glibc(facts.get("libc", "")),
        driver=driver,
        cuda=cuda,
        cards=cards,
        disk_bytes=min(_disk(facts.get("disk", "")), windows_free),
        ram_bytes=_memory(facts.get("memory", "")),
        compiler=facts.get("compiler"),
        pythons=tuple(_python(value) for key, value in rows if key == "python"),
        headers="headers" in facts,
        in_wsl=True,
        wsl=Wsl2("ready" if "folder" in facts else "apart", name),
    )


def _card(row: str) -> NvidiaCard:
    """Parse “driver, capability, MiB, MiB free, name”; numbers that nvidia-smi lacks become 0."""
    _, capability, total, free, name = (column.strip() for column in row.split(",", 4))
    major, _, minor = capability.partition(".")
    return NvidiaCard(
        name, (_number(major), _number(minor)), _number(total) * _MIB, _number(free) * _MIB
    )


def _cuda(facts: dict[str, str]) -> tuple[int, int]:
    major, _, minor = facts.get("cuda", "").rpartition(" ")[2].partition(".")
    return _number(major), _number(minor)


def _disk(row: str) -> int:
    """Parse the free bytes from the fourth column of a row of `df -Pk`."""
    columns = row.split()
    return _number(columns[3]) * 1024 if len(columns) > 3 else 0


def _memory(row: str) -> int:
    """Parse the bytes in “MemTotal: 16302252 kB”."""
    columns = row.split()
    return _number(columns[1]) * 1024 if len(columns) > 1 else 0


def _python(name: str) -> tuple[int, int]:
    major, _, minor = name.strip().removeprefix("python").partition(".")
    return int(major), int(minor)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0
