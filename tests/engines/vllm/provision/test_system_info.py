"""Facts about the system: on this computer, and from a driver with NVIDIA's library."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engines.vllm.provision.preflight import NvidiaCard
from engines.vllm.provision.system_info import examine, glibc, machine, nvidia


class Broken(Exception):
    """An error as NVML raises it."""


def nvml(**other: Any) -> Any:
    memory = SimpleNamespace(total=24, free=20)
    answers = {
        "NVMLError": Broken,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetCudaDriverVersion_v2": lambda: 13020,
        "nvmlSystemGetDriverVersion": lambda: b"590.1",
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetMemoryInfo": lambda _: memory,
        "nvmlDeviceGetCudaComputeCapability": lambda handle: (8 + handle, 9),
        "nvmlDeviceGetName": lambda handle: f"card {handle}",
    }
    return SimpleNamespace(**(answers | other))


def fails(*_: object) -> Any:
    raise Broken


def test_a_driver_tells_its_cuda_and_its_cards() -> None:
    cards = (NvidiaCard("card 0", (8, 9), 24, 20), NvidiaCard("card 1", (9, 9), 24, 20))
    assert nvidia(nvml()) == ("590.1", (13, 2), cards)


@pytest.mark.parametrize("call", ["nvmlInit", "nvmlSystemGetCudaDriverVersion_v2"])
def test_without_a_driver_that_answers_there_is_none(call: str) -> None:
    assert nvidia(nvml(**{call: fails})) == ("", None, ())
    assert nvidia(None) == ("", None, ())


def test_a_card_without_memory_of_its_own_has_the_computers() -> None:
    cards = nvidia(nvml(nvmlDeviceGetMemoryInfo=fails))[2]
    assert cards[0].total_bytes > 10**8


@pytest.mark.skipif(sys.platform != "linux", reason="asks this Linux")
def test_this_computer(tmp_path: Path) -> None:
    facts = examine(tmp_path / "not" / "there", lambda: ((3, 12),), lambda it: it == (3, 12))
    assert facts.system == "linux"
    assert facts.machine in {"x86_64", "aarch64"}
    assert facts.glibc is None or facts.glibc > (2, 0)
    assert facts.disk_bytes > 0
    assert facts.pythons == ((3, 12),)
    assert facts.headers
    assert facts.wsl is None


def test_names_and_versions_as_systems_have_them() -> None:
    assert [machine(it) for it in ("AMD64", "x86_64\n", "arm64")] == ["x86_64", "x86_64", "aarch64"]
    assert glibc("glibc 2.36\n") == (2, 36)
    assert glibc("glibc 2.39.9000") == (2, 39)
    assert [glibc(it) for it in ("", "musl 1.2", "glibc")] == [None, None, None]
