"""Two Macs, from the output of their sysctl (shortened)."""

from __future__ import annotations

from engines.hardware.cores import Cores
from engines.hardware.macos import cores, cpu, parse_sysctl

APPLE = """\
hw.ncpu: 10
hw.physicalcpu: 10
hw.logicalcpu: 10
hw.memsize: 17179869184
hw.perflevel0.physicalcpu: 4
hw.perflevel0.name: Performance
hw.perflevel1.physicalcpu: 6
hw.optional.neon: 1
hw.optional.arm.FEAT_FP16: 1
hw.optional.arm.FEAT_DotProd: 1
hw.optional.arm.FEAT_I8MM: 1
hw.optional.arm.FEAT_BF16: 1
hw.optional.arm.FEAT_SME: 0
machdep.cpu.brand_string: Apple M4
"""
INTEL = """\
hw.physicalcpu: 4
hw.logicalcpu: 8
machdep.cpu.brand_string: Intel(R) Core(TM) i7-8569U CPU @ 2.80GHz
machdep.cpu.features: FPU SSE3 SSSE3 FMA SSE4.1 SSE4.2 AVX1.0 F16C
machdep.cpu.leaf7_features: BMI1 AVX2 BMI2
"""


def test_apple_silicon() -> None:
    values = parse_sysctl(APPLE)
    assert cpu(values) == ("Apple M4", ("neon", "fp16_va", "dotprod", "i8mm", "bf16"))
    assert cores(values) == Cores(
        physical=10, logical=10, usable_threads=10, usable=10, performance=4
    )


def test_intel_mac() -> None:
    values = parse_sysctl(INTEL)
    name, features = cpu(values)
    assert name == "Intel(R) Core(TM) i7-8569U CPU @ 2.80GHz"
    assert features == (
        "sse3", "ssse3", "sse4_1", "sse4_2", "avx", "f16c", "fma", "bmi2", "avx2",
    )  # fmt: skip
    assert cores(values) == Cores(physical=4, logical=8, usable_threads=8, usable=4, performance=4)
