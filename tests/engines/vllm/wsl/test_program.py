"""The facts about a Windows, from a stand-in for wsl.exe whose Linux is this one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engines.vllm.provision.preflight import NvidiaCard, SystemInfo, first_obstacle, preflight
from engines.vllm.provision.windows import Wsl2
from engines.vllm.wsl import program
from engines.vllm.wsl.program import Wsl
from engines.vllm.wsl.system_info import system_info_of
from tests.support.wsl.windows import Windows

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stand-in is for Linux")
PYTHON = sys.version_info[:2]
ANSWER = """machine x86_64
libc glibc 2.39
memory MemTotal:       16302252 kB
disk /dev/sdc 1055762868 3105280 998953116 1% /
folder /mnt/c/Users/ada/AppData/Local/hearth/engines/vllm
cuda CUDA Version: 13.0
card 590.10, 8.9, 24564, 22000, NVIDIA GeForce RTX 4090
card 590.10, 7.5, 8192, [N/A], Quadro RTX 4000, mobile
compiler /usr/bin/gcc
compiler
python python3.12
headers /usr/include/python3.12/Python.h
over
"""


@pytest.fixture
def windows(tmp_path: Path) -> Windows:
    return Windows(tmp_path / "windows")


def state(facts: SystemInfo) -> str:
    return facts.wsl.state if facts.wsl is not None else ""


def test_an_answer_is_read() -> None:
    facts = system_info_of(ANSWER, "Ubuntu", 10**15)
    assert facts is not None
    assert (facts.machine, facts.glibc, facts.pythons) == ("x86_64", (2, 39), ((3, 12),))
    assert (facts.driver, facts.cuda) == ("590.10", (13, 0))
    mib = 1 << 20
    assert facts.cards == (
        NvidiaCard("NVIDIA GeForce RTX 4090", (8, 9), 24564 * mib, 22000 * mib),
        NvidiaCard("Quadro RTX 4000, mobile", (7, 5), 8192 * mib, 0),
    )
    assert facts.disk_bytes == 998953116 * 1024
    assert facts.ram_bytes == 16302252 * 1024
    assert facts.compiler == "/usr/bin/gcc"
    assert facts.headers
    assert facts.wsl == Wsl2("ready", "Ubuntu")
    assert all(it.ok for it in preflight(facts, "cuda", 0, ((3, 12),)))


def test_its_disk_is_no_larger_than_what_windows_has_free() -> None:
    facts = system_info_of(ANSWER, "Ubuntu", 5)
    assert facts is not None
    assert facts.disk_bytes == 5


def test_without_a_card_a_drive_or_an_end() -> None:
    rows = [it for it in ANSWER.splitlines() if it.split()[0] not in {"card", "cuda", "folder"}]
    facts = system_info_of("\n".join(rows), "Ubuntu", 10**15)
    assert facts is not None
    assert (facts.driver, facts.cuda, facts.cards) == ("", None, ())
    assert state(facts) == "apart"
    assert system_info_of("machine x86_64\n", "Ubuntu", 1) is None
    assert system_info_of("", "Ubuntu", 1) is None


def test_a_linux_inside_is_asked(windows: Windows, tmp_path: Path) -> None:
    windows.add("Ubuntu 24")
    windows.add_card("Ubuntu 24")
    facts = windows.wsl.examine(tmp_path, ((3, 99), PYTHON))
    assert facts.machine in {"x86_64", "aarch64"}
    assert facts.glibc is not None
    assert facts.glibc > (2, 0)
    assert facts.pythons == (PYTHON,)
    assert facts.disk_bytes > 0
    assert facts.ram_bytes > 10**8
    assert (facts.cuda, len(facts.cards)) == ((13, 1), 1)
    assert (state(facts), facts.in_wsl) == ("ready", True)
    finding = preflight(facts, "cuda", 0, (PYTHON,))[0]
    assert finding.ok
    assert "Ubuntu 24" in finding.what


def test_without_a_card_the_driver_is_one_for_windows(windows: Windows, tmp_path: Path) -> None:
    windows.add()
    found = [it for it in preflight(windows.wsl.examine(tmp_path, (PYTHON,)), "cuda") if not it.ok]
    assert "driver for Windows" in next(it.do for it in found if it.code == "driver")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("absent", ["not installed", "wsl --install", "administrator"]),
        ("empty", ["no Linux that Hearth can use", "wsl --install -d"]),
        ("old", ["WSL1", "wsl --set-version Debian 2"]),
        ("broken", ["does not start", "E_FAIL", "wsl -d Debian"]),
        ("silent", ["does not answer", "wsl --shutdown"]),
        ("apart", ["does not see", "wsl.conf"]),
    ],
)
def test_what_is_missing_is_said(
    windows: Windows,
    tmp_path: Path,
    kind: str,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if kind == "empty":
        windows.change(installed=True)
    elif kind == "old":
        windows.add("Debian", 1)
    elif kind == "broken":
        windows.add("Debian", broken=True)
    elif kind == "silent":
        windows.change(seconds=60)
        monkeypatch.setattr(program, "LIST_S", 0.2)
    elif kind == "apart":
        windows.add("Debian")
        windows.hide_drives("Debian")
    facts = windows.wsl.examine(tmp_path / "data", (PYTHON,))
    assert state(facts) == kind
    (finding,) = preflight(facts, "cuda", 0, (PYTHON,))
    assert first_obstacle((finding,)) == finding
    assert finding.code == "wsl"
    said = f"{finding.what} {finding.why} {finding.do}"
    assert not [it for it in words if it not in said]


def test_a_windows_without_the_program(tmp_path: Path) -> None:
    assert state(Wsl(str(tmp_path / "wsl.exe")).examine(tmp_path, ())) == "absent"


def test_a_look_starts_nothing_where_nothing_is(windows: Windows, tmp_path: Path) -> None:
    windows.change(installed=True)
    windows.wsl.examine(tmp_path, (PYTHON,))
    assert not [it for it in windows.asked if "--exec" in it]
