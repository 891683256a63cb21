"""The back ends of llama.cpp, and what building each takes. Standard library only.

Used by run.py and build.py. The choice is stored in a file for the next start. Vulkan and CUDA are
built as modules beside the processor's part, and are loaded when a card is used; Metal is compiled
in.
"""

import os
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

NAMES = ("cpu", "vulkan", "metal", "cuda")
DEFAULT = "metal" if sys.platform == "darwin" else "cpu"
"""The default. On a Mac llama-cpp-python builds for Metal by itself."""
LEAST_HEADER = 272
"""The lowest VK_HEADER_VERSION of Vulkan's headers that llama.cpp can be built with."""
NO_METAL = "-DHEARTH_NO_METAL=ON"
MODULES = {
    "vulkan": ["-DGGML_VULKAN=ON"],
    "cuda": ["-DGGML_CUDA=ON", "-DGGML_CUDA_NCCL=OFF"],
}
"""CMake's flags for each module.

NCCL is for several cards at once; a CUDA module built with it would load only where NCCL is
installed.
"""
FOLDER = Path(__file__).resolve().parent
COMMON = [
    "-DLLAVA_BUILD=ON",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_COMMIT=unknown",
    "-DCMAKE_PLATFORM_NO_VERSIONED_SONAME=ON",
    "-DCMAKE_INSTALL_LIBDIR=llama_cpp/lib",
    "-DCMAKE_INSTALL_BINDIR=llama_cpp/lib",
    "-DCMAKE_INSTALL_INCLUDEDIR=llama_cpp/include",
]
"""CMake's flags for every build of llama.cpp here."""
ADVICE = {
    "vulkan": "On Debian and Ubuntu, `bash installers/vulkan/build.sh` gets what is missing; "
    "elsewhere install the Vulkan SDK.",
    "cuda": "Install NVIDIA's CUDA toolkit, and put its nvcc on the PATH.",
    "metal": "Metal is for macOS: use --backend vulkan or --backend auto.",
}


def split_option(option: str, words: Sequence[str]) -> tuple[str | None, list[str]]:
    """Split a leading option off; return its value, None without it, and the other words."""
    first_word, remaining = (words[0] if words else ""), list(words[1:])
    if first_word == option:
        return (remaining[0] if remaining else ""), remaining[1:]
    if first_word.startswith(f"{option}="):
        return first_word.partition("=")[2], remaining
    return None, list(words)


def stored(cache: Path) -> str:
    """Return the chosen back end, or the default."""
    name = last_named(cache) or DEFAULT
    return name if name in NAMES else DEFAULT


def last_named(cache: Path) -> str:
    """Return the back end that the user chose last; "" if none."""
    file = cache / "backend"
    return file.read_text(encoding="utf-8").strip() if file.exists() else ""


def store(cache: Path, name: str) -> None:
    """Store the choice; "" removes it."""
    cache.mkdir(exist_ok=True)
    new_file = cache / "backend.new"
    new_file.write_text(name, encoding="utf-8")
    new_file.replace(cache / "backend")


def best(cache: Path) -> tuple[str, str]:
    """Return the best back end that the tools here can build, and a sentence that says so."""
    if sys.platform == "darwin":
        return "metal", "llama.cpp is built for Metal and the processor."
    missing = {name: missing_tools(name, cache) for name in ("cuda", "vulkan")}
    if not shutil.which("nvidia-smi"):
        missing["cuda"] = missing["cuda"] or "There is no NVIDIA driver."
    for name, sentence in missing.items():
        if not sentence:
            return name, f"llama.cpp is built for {name.upper() if name == 'cuda' else 'Vulkan'}."
    return "cpu", f"llama.cpp is built for the processor alone. {' '.join(missing.values())}"


def missing_tools(name: str, cache: Path) -> str:
    """Say what is missing to build for a back end, as a sentence; "" if nothing is."""
    if name == "cuda":
        return "" if nvcc() else "CUDA's compiler, nvcc, is missing."
    if name == "metal":
        return "" if sys.platform == "darwin" else "This is not a Mac."
    if name == "vulkan":
        if not glslc(cache):
            return "Vulkan's shader compiler, glslc, is missing."
        version = max((header_version(folder) for folder in header_folders(cache)), default=0)
        if version < LEAST_HEADER:
            state = f"of version {version}, too old" if version else "missing"
            return f"Vulkan's headers are {state}."
    return ""


def nvcc() -> str | None:
    """Return the path of CUDA's compiler; None if it is not installed."""
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def glslc(cache: Path) -> str | None:
    """Return Vulkan's shader compiler; one that was unpacked just for this build comes first."""
    own = cache / "vulkan" / "bin" / "glslc"
    return own.as_posix() if own.exists() else shutil.which("glslc")


def header_folders(cache: Path) -> list[Path]:
    """Return where Vulkan's headers can be; those unpacked for this build come first."""
    folders = [cache / "vulkan" / "include"]
    if sdk := os.environ.get("VULKAN_SDK"):
        folders += [Path(sdk) / "include", Path(sdk) / "Include"]
    return [*folders, Path("/usr/local/include"), Path("/usr/include")]


def header_version(folder: Path) -> int:
    """Return the VK_HEADER_VERSION of a folder's headers; 0 if there are none."""
    try:
        text = (folder / "vulkan" / "vulkan_core.h").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    match = re.search(r"^#define VK_HEADER_VERSION (\d+)", text, re.MULTILINE)
    return int(match[1]) if match else 0


def flags(name: str) -> list[str]:
    """Return CMake's further flags for a back end, which distinguish one build from another.

    With modules, the processor's part must not be built for exactly this processor. So unless it is
    built for AVX2, one module is built for each kind of processor, and llama.cpp loads the best
    one.
    """
    if name == DEFAULT:
        return []
    if name == "cpu":
        return [NO_METAL]
    modules = ["-DGGML_BACKEND_DL=ON", *MODULES[name]]
    if processor() != "avx2":
        modules += ["-DGGML_NATIVE=OFF", "-DGGML_CPU_ALL_VARIANTS=ON"]
    return modules


def local_flags(name: str, cache: Path) -> list[str]:
    """Return CMake's flags that depend on where things are on this computer."""
    if name == "vulkan":
        newest = max(header_folders(cache), key=header_version)
        compiler = [f"-DVulkan_GLSLC_EXECUTABLE={glslc(cache)}"]
        return [f"-DVulkan_INCLUDE_DIR={newest.as_posix()}", *compiler]
    if name == "cuda":
        # For the cards in this computer; without one, for all that the toolkit knows, which is
        # slow.
        architectures = ["-DCMAKE_CUDA_ARCHITECTURES=native"] if shutil.which("nvidia-smi") else []
        return [f"-DCMAKE_CUDA_COMPILER={Path(nvcc() or 'nvcc').as_posix()}", *architectures]
    if name == "cpu" and sys.platform == "darwin":
        return [f"-DCMAKE_PROJECT_INCLUDE_BEFORE={(FOLDER / 'no_metal.cmake').as_posix()}"]
    return []


def processor() -> str:
    """Return `avx2`, or all facts that a build for exactly this processor depends on."""
    facts = platform.processor()
    has_avx2 = platform.machine() == "x86_64"  # llama-cpp-python builds for every Intel Mac
    if sys.platform == "linux":
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        facts = " ".join(sorted({line for line in lines if re.match("flags|Features|model", line)}))
        has_avx2 = {"avx2", "bmi2", "f16c", "fma"} <= set(facts.split())
    elif sys.platform == "win32":
        import ctypes

        has_avx2 = bool(ctypes.windll.kernel32.IsProcessorFeaturePresent(40))
    return "avx2" if has_avx2 else facts
