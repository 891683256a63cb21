"""Hearth's description of this computer, compared with those of other tools."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from engines.hardware import Sources, detect, thread_rule
from tests.engines.hardware.machines import CGROUP2, write, x86


def test_this_computer() -> None:
    found = detect()
    assert found.memory.total_bytes == psutil.virtual_memory().total
    assert 0 < found.memory.available_bytes <= found.memory.total_bytes
    assert found.cpu.logical_cores == psutil.cpu_count()
    assert found.cpu.physical_cores == psutil.cpu_count(logical=False)
    assert 1 <= found.cpu.usable_threads <= found.cpu.logical_cores
    assert found.cpu.name
    assert platform.machine() in found.os
    assert found.notes == ()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux binds a process to cores")
def test_bound_to_one_core() -> None:
    number = min(os.sched_getaffinity(0))
    code = (
        f"import os; os.sched_setaffinity(0, {{{number}}})\n"
        "from engines.hardware import detect; print(detect().cpu.usable_threads)"
    )
    child = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert child.stdout.strip() == "1", child.stderr


def test_there_is_always_a_thread_to_decode_with() -> None:
    threads = thread_rule(detect().cpu, 1 << 30)
    assert threads.decode >= 1
    assert threads.batch >= 1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no /sys")
def test_without_sys_it_counts_what_the_process_may_use(tmp_path: Path) -> None:
    write(tmp_path, x86("A processor"))
    one = min(os.sched_getaffinity(0))
    found = detect(sources=Sources(root=tmp_path, allowed=lambda: {one})).cpu
    assert (found.usable_threads, found.usable_cores, found.performance_cores) == (1, 1, 1)
    assert found.logical_cores == psutil.cpu_count()
    everywhere = detect(sources=Sources(root=tmp_path)).cpu
    assert everywhere.usable_threads == len(os.sched_getaffinity(0))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no /sys")
def test_without_sys_a_quota_counts_too(tmp_path: Path) -> None:
    write(tmp_path, x86("A processor"))
    write(
        tmp_path,
        {
            "proc/self/mountinfo": CGROUP2,
            "proc/self/cgroup": "0::/",
            "sys/fs/cgroup/cpu.max": "100000 100000",
        },
    )
    assert detect(sources=Sources(root=tmp_path)).cpu.usable_threads == 1
