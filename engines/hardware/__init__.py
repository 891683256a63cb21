"""The hardware of this computer: processor, memory, graphics, and a container's limits.

    hardware = detect()
    print(hardware.cpu.name, hardware.memory.available_bytes)

If a driver or file is missing, the result is empty. This package never loads llama.cpp.
"""

from __future__ import annotations

from engines.hardware.detect import Sources, detect
from engines.hardware.threads import Threads, thread_rule
from engines.hardware.values import Cpu, Gpu, Hardware, Memory, NativeDevice

__all__ = [
    "Cpu",
    "Gpu",
    "Hardware",
    "Memory",
    "NativeDevice",
    "Sources",
    "Threads",
    "detect",
    "thread_rule",
]
