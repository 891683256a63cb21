"""Name and features of the processor, read from /proc on Linux; the rest works on all systems."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from engines.hardware.files import read_text

# The instruction sets that llama.cpp has code for, in its spelling, oldest first. The second table
# holds the Linux kernel's names where they differ.
FEATURES: Final = (
    "sse3", "ssse3", "sse4_1", "sse4_2", "avx", "f16c", "fma", "bmi2", "avx2", "avx_vnni",
    "avx512f", "avx512bw", "avx512vbmi", "avx512_vnni", "avx512_bf16", "amx_int8", "neon",
    "fp16_va", "dotprod", "i8mm", "bf16", "sve", "sve2", "sme", "vsx", "rvv",
)  # fmt: skip
_KERNEL_NAMES: Final = {
    "pni": "sse3", "asimd": "neon", "asimdhp": "fp16_va", "asimddp": "dotprod",
}  # fmt: skip


def known_features(flags: Iterable[str]) -> tuple[str, ...]:
    """Return the known features among the flags, in the order of FEATURES."""
    present = {_KERNEL_NAMES.get(flag, flag) for flag in flags}
    return tuple(feature for feature in FEATURES if feature in present)


def linux_cpu(root: Path) -> tuple[str, tuple[str, ...]]:
    """Return name and features; a processor without a name gets the name of its board."""
    facts: dict[str, str] = {}
    for line in (read_text(root / "proc/cpuinfo") or "").splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    board = (read_text(root / "proc/device-tree/model") or "").rstrip("\0")
    name = facts.get("model name") or board or facts.get("Hardware") or platform.machine()
    flags = facts.get("flags") or facts.get("Features") or ""
    return " ".join(name.split()), known_features(flags.split())
