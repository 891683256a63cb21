"""Which engines there are, and whether they can run on this computer."""

from __future__ import annotations

import importlib.util
import platform
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.hardware import cpu_features

# What the plain build for x86 is compiled with (ggml's GGML_AVX2, GGML_FMA, GGML_F16C, GGML_BMI2).
_NEEDED: Final = ("avx", "avx2", "fma", "f16c", "bmi2")
_X86: Final = {"x86_64", "AMD64"}
_LIBRARIES: Final = {".so", ".dll", ".dylib"}


@dataclass(frozen=True)
class EngineStatus:
    """why_not: one sentence, None if the engine is available."""

    name: str
    available: bool
    why_not: str | None = None


def statuses() -> tuple[EngineStatus, ...]:
    """All engines. Looks for files only, and loads no library."""
    return (
        llamacpp_status(_installed("llama_cpp"), _processor(), cpu_features()),
        EngineStatus("vllm", False, "This version of Hearth does not have it yet."),
        EngineStatus("remote", False, "This version of Hearth does not have it yet."),
    )


def _installed(package: str) -> Path | None:
    """The folder of an installed package, or None."""
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent if found and found.origin else None


def _processor() -> str:
    """The kind of processor; macOS has a build of its own that runs on all of its own."""
    return "" if sys.platform == "darwin" else platform.machine()


def llamacpp_status(
    package: Path | None, processor: str, features: Collection[str]
) -> EngineStatus:
    """package: the folder of llama_cpp, None if it is not installed.

    features: of the processor, empty if they could not be found out.
    """
    if package is None:
        why_not = "Its library is not installed; start Hearth with run.py, which installs it."
        return EngineStatus("llamacpp", False, why_not)
    libraries = [file for file in (package / "lib").glob("*ggml-cpu*") if file.suffix in _LIBRARIES]
    # A build with loadable back ends has a library for each generation of processors.
    plain = len(libraries) == 1
    missing = [feature for feature in _NEEDED if feature not in features]
    if processor in _X86 and plain and features and missing:
        why_not = f"This processor is too old for it: it does not have {', '.join(missing)}."
        return EngineStatus("llamacpp", False, why_not)
    return EngineStatus("llamacpp", True)
