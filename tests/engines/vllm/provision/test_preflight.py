"""The requirements of vLLM, checked for made computers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engines.vllm.provision.preflight import (
    Finding,
    NvidiaCard,
    SystemInfo,
    first_obstacle,
    preflight,
)
from engines.vllm.provision.windows import Wsl2

GB = 1_000_000_000
CARD = NvidiaCard("RTX 4090", (8, 9), 24 * GB, 22 * GB)
GOOD = SystemInfo(
    system="linux",
    machine="x86_64",
    glibc=(2, 35),
    driver="580.65",
    cuda=(13, 0),
    cards=(CARD,),
    disk_bytes=100 * GB,
    compiler="/usr/bin/gcc",
    pythons=((3, 12),),
    headers=True,
)


def codes(findings: tuple[Finding, ...]) -> list[str]:
    return [it.code for it in findings]


def wrong(facts: SystemInfo) -> Finding:
    """Return the only negative finding."""
    (found,) = [it for it in preflight(facts, "cuda", 0, ((3, 12),)) if not it.ok]
    assert found.what
    assert found.why
    assert found.do
    return found


def test_a_good_computer_has_a_line_for_each_thing() -> None:
    findings = preflight(GOOD, "cuda", 0, ((3, 12),))
    assert all(it.ok and it.what and not it.do for it in findings)
    assert codes(findings) == [
        "system", "glibc", "cuda", "capability", "vram", "disk", "python", "compiler",
    ]  # fmt: skip
    assert first_obstacle(findings) is None


@pytest.mark.parametrize(
    ("facts", "code", "word"),
    [
        (replace(GOOD, machine="riscv64"), "machine", "riscv64"),
        (replace(GOOD, glibc=(2, 28)), "glibc", "2.28"),
        (replace(GOOD, glibc=None), "glibc", "Alpine"),
        (replace(GOOD, cuda=None, cards=()), "driver", "driver"),
        (replace(GOOD, cuda=(12, 8)), "cuda", "12.8"),
        (replace(GOOD, cards=(replace(CARD, capability=(6, 1)),)), "capability", "6.1"),
        (replace(GOOD, disk_bytes=24 * GB), "disk", "24.0 GB"),
        (replace(GOOD, pythons=((3, 11),)), "python", "3.12"),
    ],
)
def test_what_forbids_it(facts: SystemInfo, code: str, word: str) -> None:
    found = wrong(facts)
    assert found.code == code
    assert word in f"{found.what} {found.why}"
    assert first_obstacle(preflight(facts, "cuda", 0, ((3, 12),))) == found


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (replace(GOOD, cards=(replace(CARD, free_bytes=2 * GB),)), "vram"),
        (replace(GOOD, compiler=None), "compiler"),
        (replace(GOOD, headers=False), "headers"),
    ],
)
def test_what_is_only_worth_knowing(facts: SystemInfo, code: str) -> None:
    assert wrong(facts).code == code
    assert wrong(facts).warning
    assert first_obstacle(preflight(facts, "cuda")) is None


def test_the_edges_are_good_enough() -> None:
    card = replace(CARD, capability=(7, 5), free_bytes=6 * GB)
    edge = replace(GOOD, glibc=(2, 31), cuda=(13, 0), cards=(card,), disk_bytes=25 * GB)
    assert first_obstacle(preflight(edge, "cuda")) is None


def test_the_best_card_counts() -> None:
    old = NvidiaCard("GT 1030", (6, 1), 2 * GB, 2 * GB)
    assert all(it.ok for it in preflight(replace(GOOD, cards=(old, CARD)), "cuda"))


def test_a_processor_needs_no_card_and_less_room() -> None:
    facts = replace(GOOD, cuda=None, cards=(), compiler=None, disk_bytes=3 * GB)
    findings = preflight(facts, "cpu", 3 * GB, ((3, 12),))
    assert codes(findings) == ["system", "glibc", "disk", "python"]
    assert all(it.ok for it in findings)
    assert first_obstacle(preflight(facts, "cpu", 3 * GB + 1)) is not None


def test_a_lock_that_takes_more_than_usual_needs_more() -> None:
    assert first_obstacle(preflight(GOOD, "cuda", 101 * GB)) is not None


def test_windows_without_wsl2_says_nothing_else() -> None:
    bare = preflight(SystemInfo("win32", "", None, wsl=Wsl2("absent")), "cuda", 0, ((3, 12),))
    assert codes(bare) == ["wsl"]
    assert "wsl --install" in bare[0].do
    assert first_obstacle(bare) == bare[0]


def test_the_linux_inside_a_windows_is_looked_at_like_any() -> None:
    inside = replace(GOOD, in_wsl=True, wsl=Wsl2("ready", "Ubuntu"))
    findings = preflight(inside, "cuda", 0, ((3, 12),))
    assert "Ubuntu" in findings[0].what
    assert codes(findings)[:4] == ["system", "glibc", "cuda", "capability"]
    assert all(it.ok for it in findings)
    little = preflight(replace(inside, ram_bytes=4 * GB), "cuda", 0, ((3, 12),))
    assert [(it.code, it.warning) for it in little if not it.ok] == [("ram", True)]
    assert ".wslconfig" in next(it.do for it in little if not it.ok)
    bare = replace(inside, cards=(), cuda=None, disk_bytes=0, pythons=())
    does = {it.code: it.do for it in preflight(bare, "cuda", 0, ((3, 12),)) if not it.ok}
    assert "driver for Windows" in does["driver"]
    assert "in Windows" in does["disk"]
    assert "Open Ubuntu and run" in does["python"]


def test_inside_wsl2_it_is_linux() -> None:
    findings = preflight(replace(GOOD, in_wsl=True), "cuda")
    assert "WSL2" in findings[0].what
    assert first_obstacle(findings) is None


def test_macos_has_no_vllm() -> None:
    assert codes(preflight(SystemInfo("darwin", "aarch64", None), "cuda")) == ["system"]
