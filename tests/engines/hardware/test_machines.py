"""Hearth's description of many kinds of computers, which are described by their files."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from engines.hardware import Cpu, NativeDevice, Threads, thread_rule
from tests.engines.hardware.machines import (
    AVX2,
    CGROUP2,
    GIB,
    FakeNvml,
    Files,
    card,
    cores,
    look,
    pairs,
    x86,
)

RTX = ("NVIDIA GeForce RTX 4090", "00000000:01:00.0", 24 * GIB, 1 * GIB)


def test_laptop(tmp_path: Path) -> None:
    files: Files = {
        **x86("Intel(R) Core(TM)  i5-8250U CPU @ 1.60GHz"),
        **cores(pairs(4)),
        "etc/os-release": 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"',
        **card(0, 0x8086, "0000:00:02.0", "i915"),
    }
    found = look(tmp_path, files)
    assert found.os.startswith("Ubuntu 24.04.1 LTS, ")
    assert found.cpu.name == "Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz"
    assert (found.cpu.physical_cores, found.cpu.logical_cores) == (4, 8)
    assert found.cpu.usable_threads == 8
    assert found.cpu.features[-3:] == ("fma", "bmi2", "avx2")
    assert thread_rule(found.cpu, 1 << 30) == Threads(4, 4)
    assert found.memory.limit_bytes is None
    [gpu] = found.gpus
    assert (gpu.vendor, gpu.integrated, gpu.usable) == ("intel", True, False)
    assert gpu.why_not == "This build of llama.cpp does not support Intel graphics (Vulkan)."
    assert found.notes == ()


def test_workstation_leaves_the_window_a_core(tmp_path: Path) -> None:
    found = look(tmp_path, {**x86("AMD Ryzen 9 5950X"), **cores(pairs(16))})
    assert thread_rule(found.cpu, 1 << 30) == Threads(15, 16)


def test_container_of_cgroup_2_with_quota_and_memory(tmp_path: Path) -> None:
    files: Files = {
        **x86("AMD EPYC 7763"),
        **cores(pairs(8)),
        "proc/self/cgroup": "0::/",
        "proc/self/mountinfo": CGROUP2,
        "sys/fs/cgroup/cpu.max": "250000 100000",
        "sys/fs/cgroup/memory.max": 4 * GIB,
        "sys/fs/cgroup/memory.high": "max",
        "sys/fs/cgroup/memory.current": 3 * GIB,
        "sys/fs/cgroup/memory.stat": (
            f"anon {GIB}\nfile {2 * GIB}\ninactive_file {GIB}\nactive_file {GIB // 2}"
        ),
    }
    found = look(tmp_path, files)
    assert (found.cpu.physical_cores, found.cpu.usable_threads) == (8, 2)
    assert thread_rule(found.cpu, 1 << 30) == Threads(2, 2)
    assert found.memory.limit_bytes == 4 * GIB
    assert found.memory.available_bytes == 2 * GIB + GIB // 2


def test_container_of_cgroup_1_whose_path_is_the_hosts(tmp_path: Path) -> None:
    files: Files = {
        **x86("Intel Xeon"),
        **cores([str(number) for number in range(4)]),
        "proc/self/cgroup": "5:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/docker/abc",
        "proc/self/mountinfo": (
            "40 30 0:35 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
            "41 30 0:36 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
        ),
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": 150000,
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": 100000,
        "sys/fs/cgroup/memory/memory.limit_in_bytes": 2 * GIB,
        "sys/fs/cgroup/memory/memory.usage_in_bytes": GIB,
        "sys/fs/cgroup/memory/memory.stat": (
            f"cache {GIB}\ntotal_inactive_file {GIB // 2}\nactive_file 1\ntotal_active_file 4096"
        ),
    }
    found = look(tmp_path, files)
    assert found.cpu.usable_threads == 1
    assert thread_rule(found.cpu, 1 << 30) == Threads(1, 1)
    assert found.memory.limit_bytes == 2 * GIB
    assert found.memory.available_bytes == GIB * 3 // 2 + 4096


def test_service_below_a_limited_group(tmp_path: Path) -> None:
    """The tightest limit on the way up counts, and the fullest group sets the free memory."""
    top = "sys/fs/cgroup"
    files: Files = {
        **x86("AMD EPYC"),
        **cores(pairs(8)),
        "proc/self/cgroup": "0::/user.slice/app.service",
        "proc/self/mountinfo": CGROUP2,
        f"{top}/cpu.max": "max 100000",
        f"{top}/user.slice/cpu.max": "500000 100000",
        f"{top}/user.slice/memory.max": 8 * GIB,
        f"{top}/user.slice/memory.current": 7 * GIB,
        f"{top}/user.slice/app.service/cpu.max": "300000 100000",
        f"{top}/user.slice/app.service/memory.max": 6 * GIB,
        f"{top}/user.slice/app.service/memory.high": 5 * GIB,
        f"{top}/user.slice/app.service/memory.current": 2 * GIB,
    }
    found = look(tmp_path, files)
    assert found.cpu.usable_threads == 3
    assert (found.memory.limit_bytes, found.memory.available_bytes) == (5 * GIB, GIB)


def test_no_limits_are_no_limits(tmp_path: Path) -> None:
    files: Files = {
        **x86("AMD EPYC"),
        **cores(pairs(2)),
        "proc/self/cgroup": "4:memory:/process/1\n1:cpu:/\n0::/",
        "proc/self/mountinfo": (
            "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
            "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
        ),
        "sys/fs/cgroup/memory/process/1/memory.limit_in_bytes": 9223372036854771712,
        "sys/fs/cgroup/memory/process/1/memory.usage_in_bytes": GIB,
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": -1,
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": 100000,
    }
    found = look(tmp_path, files)
    assert found.cpu.usable_threads == 4
    assert (found.memory.limit_bytes, found.memory.available_bytes) == (None, 12 * GIB)


def test_hybrid_processor(tmp_path: Path) -> None:
    """It has six fast cores with two threads each, and eight slow ones with one."""
    siblings = [f"{n - n % 2}-{n - n % 2 + 1}" for n in range(12)] + [str(n) for n in range(12, 20)]
    files: Files = {
        **x86("12th Gen Intel(R) Core(TM) i7-12700H", f"{AVX2} avx_vnni"),
        **cores(siblings),
        "sys/devices/cpu_core/cpus": "0-11",
        "sys/devices/cpu_atom/cpus": "12-19",
    }
    found = look(tmp_path, files)
    assert (found.cpu.physical_cores, found.cpu.logical_cores) == (14, 20)
    assert found.cpu.performance_cores == 6
    assert found.cpu.features[-1] == "avx_vnni"
    assert thread_rule(found.cpu, 1 << 30) == Threads(5, 14)


def test_hybrid_processor_kept_to_its_slow_cores(tmp_path: Path) -> None:
    files: Files = {
        **x86("Hybrid"),
        **cores([str(number) for number in range(8)]),
        "sys/devices/cpu_core/cpus": "0-3",
    }
    found = look(tmp_path, files, allowed={4, 5, 6})
    assert found.cpu.performance_cores == 3
    assert thread_rule(found.cpu, 1 << 30) == Threads(3, 3)


def test_arm_board_with_big_and_little_cores(tmp_path: Path) -> None:
    capacity = [397] * 4 + [1024] * 4
    files: Files = {
        "proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimd asimdhp asimddp aes\n",
        "proc/device-tree/model": "Radxa ROCK 5B\0",
        **cores([str(number) for number in range(8)]),
        **{f"sys/devices/system/cpu/cpu{n}/cpu_capacity": it for n, it in enumerate(capacity)},
    }
    found = look(tmp_path, files)
    assert found.cpu.name == "Radxa ROCK 5B"
    assert found.cpu.features == ("neon", "fp16_va", "dotprod")
    assert (found.cpu.physical_cores, found.cpu.performance_cores) == (8, 4)
    assert thread_rule(found.cpu, 1 << 30) == Threads(4, 8)


def test_both_threads_of_one_core(tmp_path: Path) -> None:
    found = look(tmp_path, {**x86("Intel"), **cores(pairs(4))}, allowed={1, 5})
    assert (found.cpu.usable_threads, found.cpu.usable_cores) == (2, 1)
    assert thread_rule(found.cpu, 1 << 30) == Threads(1, 1)


def test_windows_subsystem_with_an_nvidia_card(tmp_path: Path) -> None:
    files: Files = {
        **x86("AMD Ryzen 7 5800X"),
        **cores(pairs(8)),
        "proc/version": "Linux version 5.15.167.4-microsoft-standard-WSL2",
        "etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"',
    }
    found = look(tmp_path, files, nvml=FakeNvml(RTX))
    assert "(bookworm) on WSL" in found.os
    [gpu] = found.gpus
    assert (gpu.name, gpu.driver) == ("NVIDIA GeForce RTX 4090", "NVIDIA 580.95.05")
    assert (gpu.total_bytes, gpu.free_bytes) == (24 * GIB, 23 * GIB)
    assert not gpu.usable
    assert "NVIDIA cards (CUDA or Vulkan)" in gpu.why_not


@pytest.mark.parametrize(
    ("visible", "hidden"),
    [
        (None, [False, False]),
        ("0,1", [False, False]),
        ("1", [True, False]),
        (" GPU-0234", [False, True]),
        ("", [True, True]),
    ],
)
def test_which_cards_programs_may_compute_on(
    tmp_path: Path, visible: str | None, hidden: list[bool]
) -> None:
    other = (RTX[0], "00000000:02:00.0", *RTX[2:])
    files: Files = {**x86("Intel"), **cores(pairs(4))}
    found = look(tmp_path, files, nvml=FakeNvml(RTX, other), visible=visible).gpus
    assert [gpu.hidden for gpu in found] == hidden
    assert [gpu.shows for gpu in found] == [True, False]
    assert {gpu.capability for gpu in found} == {(8, 9)}


def test_one_card_seen_by_four_sources(tmp_path: Path) -> None:
    files: Files = {
        **x86("Intel"),
        **cores(pairs(4)),
        **card(1, 0x10DE, "0000:01:00.0", "nvidia"),
    }
    devices = (
        NativeDevice("CPU", "Intel", "CPU", "cpu", 16 * GIB, 16 * GIB),
        NativeDevice(
            "Vulkan0", "NVIDIA GeForce RTX 4090", "Vulkan", "gpu", 24 * GIB, 24 * GIB,
            "0000:01:00.0",
        ),
        NativeDevice(
            "CUDA0", "NVIDIA GeForce RTX 4090", "CUDA", "gpu", 24 * GIB, 23 * GIB, "0000:01:00.0"
        ),
    )  # fmt: skip
    nvml = FakeNvml((RTX[0], RTX[1], 24 * GIB, 2 * GIB))
    [gpu] = look(tmp_path, files, nvml=nvml, devices=devices).gpus
    assert (gpu.usable, gpu.backend, gpu.why_not) == (True, "CUDA", "")
    assert gpu.free_bytes == 22 * GIB
    assert gpu.driver == "NVIDIA 580.95.05"
    assert nvml.open == 0


def test_amd_apu(tmp_path: Path) -> None:
    files: Files = {
        **x86("AMD Ryzen 7 7840U"),
        **cores(pairs(8)),
        **card(
            0, 0x1002, "0000:c4:00.0", "amdgpu", mem_info_vram_total=GIB // 2,
            mem_info_vram_used=GIB // 4, mem_info_gtt_total=8 * GIB, mem_info_gtt_used=GIB,
        ),
    }  # fmt: skip
    [gpu] = look(tmp_path, files).gpus
    assert gpu.integrated
    assert gpu.total_bytes == 8 * GIB + GIB // 2
    assert gpu.free_bytes == 7 * GIB + GIB // 4
    assert gpu.name == "AMD graphics (15bf)"


def test_amd_card_beside_a_servers_console(tmp_path: Path) -> None:
    files: Files = {
        **x86("AMD EPYC"),
        **cores(pairs(8)),
        **card(0, 0x1A03, "0000:02:00.0", "ast"),
        "sys/class/drm/card1-DP-1/status": "connected",
        **card(
            1, 0x1002, "0000:03:00.0", "amdgpu", mem_info_vram_total=16 * GIB,
            mem_info_vram_used=GIB, mem_info_gtt_total=32 * GIB,
        ),
        "sys/class/drm/card1/device/product_name": "AMD Radeon RX 7800 XT",
    }  # fmt: skip
    [gpu] = look(tmp_path, files).gpus
    assert (gpu.name, gpu.integrated) == ("AMD Radeon RX 7800 XT", False)
    assert (gpu.total_bytes, gpu.free_bytes) == (16 * GIB, 15 * GIB)


def test_nvidia_card_with_the_kernels_own_driver(tmp_path: Path) -> None:
    files = {**x86("Intel"), **cores(pairs(4)), **card(0, 0x10DE, "0000:01:00.0", "nouveau")}
    nvml = FakeNvml(fails=FakeNvml.NVML_ERROR_LIBRARY_NOT_FOUND)
    found = look(tmp_path, files, nvml=nvml)
    [gpu] = found.gpus
    assert (gpu.vendor, gpu.driver, gpu.total_bytes) == ("nvidia", "nouveau", None)
    assert found.notes == ()


def test_nvidia_chip_without_memory_of_its_own(tmp_path: Path) -> None:
    nvml = FakeNvml((b"NVIDIA GB10", "000F:01:00.0", None, 0))
    files = {**x86("ARM"), **cores(pairs(4))}
    [gpu] = look(tmp_path, files, memory=(128 * GIB, 100 * GIB), nvml=nvml).gpus
    assert (gpu.name, gpu.integrated) == ("NVIDIA GB10", True)
    assert (gpu.total_bytes, gpu.free_bytes) == (128 * GIB, 100 * GIB)


def test_driver_that_does_not_answer_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    version_mismatch = 18
    found = look(
        tmp_path, {**x86("Intel"), **cores(pairs(4))}, nvml=FakeNvml(fails=version_mismatch)
    )
    assert found.gpus == ()
    assert found.notes == (
        "Detecting NVIDIA cards failed (NVML error 18); Hearth continues without it.",
    )
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_nonsense_in_one_file_spoils_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = {**x86("Intel"), **cores(pairs(4)), "sys/devices/cpu_core/cpus": "many"}
    found = look(tmp_path, files)
    assert found.cpu.name == "Intel"
    assert found.cpu.usable_threads >= 1
    assert found.notes[0].startswith("Detecting the processor's cores failed")
    assert caplog.records


def test_bare_system_without_proc_and_sys(tmp_path: Path) -> None:
    found = look(tmp_path, {})
    assert found.os.startswith("Linux, ")
    assert found.cpu.name
    assert found.cpu.usable_threads >= 1
    assert (found.gpus, found.notes) == ((), ())


def test_a_tiny_model_gets_one_thread_on_any_machine() -> None:
    cpu = Cpu("any", 16, 16, 16, 16, 16, features=())
    assert thread_rule(cpu, 4_000_000) == Threads(1, 1)
    assert thread_rule(cpu, 7_000_000) == Threads(15, 16)
    assert thread_rule(cpu, 1 << 30).decode > 1
