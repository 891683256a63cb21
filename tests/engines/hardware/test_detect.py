"""This computer, against what its other tools say."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import psutil
import pytest

from engines.hardware import detect, thread_rule


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
