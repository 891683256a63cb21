"""The hardware of a Mac from sysctl, whose names are documented in sysctl(3).

Graphics come only from llama.cpp's device list, because Metal is always available and part of it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import Final

from engines.hardware.cores import Cores
from engines.hardware.cpu import known_features

_ARM: Final = {
    "hw.optional.neon": "neon",
    "hw.optional.arm.AdvSIMD": "neon",
    "hw.optional.arm.FEAT_FP16": "fp16_va",
    "hw.optional.arm.FEAT_DotProd": "dotprod",
    "hw.optional.arm.FEAT_I8MM": "i8mm",
    "hw.optional.arm.FEAT_BF16": "bf16",
    "hw.optional.arm.FEAT_SME": "sme",
}
_INTEL: Final = {"sse4.1": "sse4_1", "sse4.2": "sse4_2", "avx1.0": "avx"}


def read_sysctl() -> dict[str, str]:
    """Read the values below "hw" and "machdep.cpu"; takes a few milliseconds."""
    listing = subprocess.run(
        ["/usr/sbin/sysctl", "hw", "machdep.cpu"],
        capture_output=True,
        text=True,
        timeout=10,
        check=False,  # one unknown name makes sysctl fail, but its output is still valid
    )
    return parse_sysctl(listing.stdout)


def parse_sysctl(text: str) -> dict[str, str]:
    """Parse lines of the form "name: value"."""
    pairs = (line.partition(": ") for line in text.splitlines())
    return {key: value.strip() for key, _, value in pairs if key}


def cpu(values: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return name and features of the processor."""
    flags = [feature for key, feature in _ARM.items() if values.get(key) == "1"]
    for key in ("machdep.cpu.features", "machdep.cpu.leaf7_features"):
        words = values.get(key, "").lower().split()
        flags += [_INTEL.get(word, word) for word in words]
    return values.get("machdep.cpu.brand_string", ""), known_features(flags)


def cores(values: Mapping[str, str]) -> Cores:
    """Count the cores; level 0 holds the fast ones, and an Intel Mac has no levels."""
    physical = int(values["hw.physicalcpu"])
    logical = int(values["hw.logicalcpu"])
    fast = int(values.get("hw.perflevel0.physicalcpu", physical))
    return Cores(physical, logical, logical, physical, fast)
