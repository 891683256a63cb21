"""Make one wheel of llama-cpp-python that runs on every computer of this one's kind.

    python3 installers/native/build.py [--out DIR] [--without-vulkan]
    python3 installers/native/build.py [--out DIR] --pack cuda|vulkan [--cards LIST]

The wheel goes into installers/dist, where run.py and the packages find it. It has a module for each
kind of processor, of which llama.cpp takes the best when it starts, and one for Vulkan; on a Mac
Metal is compiled in. It takes half an hour on two cores; one that was stopped goes on from there.

A pack is the module for one kind of graphics cards, from the same source, as a ZIP file to unpack
into the folder `engines/llamacpp/packs` of Hearth's data folder.

Standard library only. What it makes on the way is in .cache/portable and may be deleted.
"""

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import run
from installers.native import backends, progress, wheels

WORK = run.CACHE / "portable"
ENVIRONMENT = WORK / "environment"
PYTHON = ENVIRONMENT / run.BIN.name / run.PYTHON.name
HOOK = Path(__file__).with_name("portable.cmake")
PACKS = ("cuda", "vulkan")
LEAST_MACOS = "14.0"
TOOLS = (
    "On Debian and Ubuntu, `bash installers/vulkan/build.sh --tools` gets what is missing; "
    "elsewhere install the Vulkan SDK. Or leave Vulkan out: --without-vulkan"
)
MODULE_FLAGS = """
    -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
    -DCMAKE_PLATFORM_NO_VERSIONED_SONAME=ON -DGGML_BACKEND_DL=ON -DGGML_NATIVE=OFF -DGGML_CPU=OFF
    -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_OPENSSL=OFF
    -DLLAMA_BUILD_COMMIT=unknown
""".split()
"""CMake's flags for a single module."""


def main(words: Sequence[str]) -> int:
    """Make the wheel or the pack; return the exit status."""
    options = parse_options(words)
    try:
        require_tools(options.pack, vulkan=not options.without_vulkan)
        with run.folder_lock():
            work = prepare()
            if options.pack:
                result = build_pack(options.pack, options.cards, work, options.out)
            else:
                result = build_wheel(work, options.out, vulkan=not options.without_vulkan)
    except (run.SetupError, OSError) as error:
        advice = "" if isinstance(error, run.SetupError) else f"\n{progress.remedy(str(error))}"
        run.say(f"\nNothing was made.\n{error}{advice}")
        return 1
    except KeyboardInterrupt:
        run.say("\nStopped. The next run continues from here.")
        return 130
    print(result)
    return 0


def parse_options(words: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; this module's docstring is the help's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=run.DIST, help="the folder for the result")
    parser.add_argument("--without-vulkan", action="store_true", help="build for processors only")
    parser.add_argument("--pack", choices=PACKS, help="make only this module, as a pack")
    parser.add_argument(
        "--cards",
        default="",
        help="CUDA's numbers of the cards that its pack is for, such as 86;120; by default all",
    )
    return parser.parse_args(words)


def require_tools(pack: str | None, *, vulkan: bool) -> None:
    """Raise SetupError if a tool is missing, before anything takes an hour."""
    backend = pack or ("vulkan" if vulkan and sys.platform != "darwin" else "")
    missing = backends.missing_tools(backend, run.CACHE)
    if missing:
        advice = TOOLS if backend == "vulkan" and not pack else backends.ADVICE[backend]
        raise run.SetupError(f"{missing} {advice}")
    run.require_tools(compiling=True)


def prepare() -> Path:
    """Create the build environment, and download the source; return the folder that contains it."""
    lock = run.LOCKS / "build.txt"
    stamp, digest = ENVIRONMENT / "made", hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        create = [sys.executable, "-m", "venv", str(ENVIRONMENT)]
        run.run("Making an environment to build in", create)
        run.pip("Getting CMake and Ninja", *run.LOCKED, str(lock), python=PYTHON)
        stamp.write_text(digest)
    work = WORK / wheels.pinned(run.NATIVE_LOCK)[1][:16]
    run.fetch_source(work, PYTHON)
    return work


def build_wheel(work: Path, out: Path, *, vulkan: bool) -> Path:
    """Compile the wheel; write it into `out` with its platform tag and its description."""
    flags = portable_flags(vulkan=vulkan)
    all_flags_here = [*flags, *local_flags(work, vulkan=vulkan)]
    discard_outdated(work / "objects", [*all_flags_here, HOOK.read_text(encoding="utf-8")])
    # Files of an earlier build there would get into the wheel.
    for leftover in (work / "wheel", work / "source" / "llama_cpp" / "lib"):
        shutil.rmtree(leftover, ignore_errors=True)
    settings = {"MACOSX_DEPLOYMENT_TARGET": LEAST_MACOS} if sys.platform == "darwin" else {}
    hook = f"-DCMAKE_PROJECT_INCLUDE={HOOK.as_posix()}"
    run.compile_wheel(work, PYTHON, [*all_flags_here, hook], **settings)
    wheel = next((work / "wheel").glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        parts = {
            Path(name).name: archive.read(name)
            for name in archive.namelist()
            if name.startswith("llama_cpp/lib/") and not name.endswith("/")
        }
    description = describe(parts, flags)
    result = wheels.finish(wheel, out, description, platform_tag(wheel, description["needs"]))
    kinds = [*description["processors"], *description["cards"]]
    run.say(f"{result.stat().st_size / 1e6:.1f} MB, for {', '.join(kinds)}.")
    for_cards = requirements_text(description["cards_need"])
    run.say(f"It needs {requirements_text(description['needs'])}; for cards {for_cards}.")
    return result


def portable_flags(*, vulkan: bool) -> list[str]:
    """Return CMake's flags that do not depend on this computer; the wheel lists them."""
    flags = ["-DGGML_NATIVE=OFF", *backends.COMMON]
    if sys.platform == "darwin":
        return flags  # llama-cpp-python compiles Metal in by itself, with its shaders
    flags.append("-DGGML_BACKEND_DL=ON")
    if not (sys.platform == "win32" and platform.machine() == "ARM64"):  # it has one there
        flags.append("-DGGML_CPU_ALL_VARIANTS=ON")
    if sys.platform == "win32":
        flags.append("-DGGML_OPENMP=OFF")  # its library is not part of Windows
    else:
        flags.append("-DCMAKE_INSTALL_RPATH=$ORIGIN")
    return [*flags, "-DGGML_VULKAN=ON"] if vulkan else flags


def local_flags(work: Path, *, vulkan: bool) -> list[str]:
    """Return CMake's flags that depend on this computer, and keep its paths out of the files.

    llama.cpp's error messages contain the path of their source file.
    """
    flags = backends.local_flags("vulkan", run.CACHE) if vulkan and sys.platform != "darwin" else []
    if sys.platform == "win32":
        # Microsoft's compiler cannot build the modules for some processors.
        clang = ["-GNinja", "-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++"]
        return [*flags, *clang] if shutil.which("clang") else flags
    prefix_map = f"-ffile-prefix-map={work}=."
    quoted = f'"{prefix_map}"' if " " in prefix_map else prefix_map
    return [*flags, f"-DCMAKE_C_FLAGS={quoted}", f"-DCMAKE_CXX_FLAGS={quoted}"]


def discard_outdated(objects: Path, recipe: Sequence[str]) -> None:
    """Remove the objects of an earlier build with another recipe, as CMake keeps old flags."""
    digest = hashlib.sha256("\n".join(recipe).encode()).hexdigest()
    note = objects.with_suffix(".recipe")
    if not note.exists() or note.read_text() != digest:
        shutil.rmtree(objects, ignore_errors=True)
        note.write_text(digest)


def describe(parts: dict[str, bytes], flags: Sequence[str]) -> dict[str, Any]:
    """Return a wheel's description, from the files in it.

    The requirements of the modules for cards are separate: if they are not met, the processor still
    computes.
    """
    cards = {name: parts[name] for name in parts if any(f"ggml-{name}" in name for name in PACKS)}
    modules = [
        match for name in parts if (match := re.match(r"(?:lib)?ggml-(\w+)-?([\w.]*)\.", name))
    ]
    version, source = wheels.pinned(run.NATIVE_LOCK)
    metal = (
        {"metal"} if sys.platform == "darwin" and any("metal" in name for name in parts) else set()
    )
    return {
        "llama_cpp_python": version,
        "source": source,
        "system": sys.platform,
        "machine": platform.machine().lower(),
        "processors": sorted(name[2] for name in modules if name[1] == "cpu" and name[2]),
        "cards": sorted({name[1] for name in modules if name[1] in backends.NAMES[1:]} | metal),
        "needs": requirements({name: parts[name] for name in parts if name not in cards}),
        "cards_need": requirements(cards) if cards else {},
        "flags": list(flags),
    }


def requirements(parts: dict[str, bytes]) -> dict[str, str]:
    """Return the oldest versions of the system's libraries that compiled files run with."""
    if sys.platform == "darwin":
        return {"macOS": LEAST_MACOS}
    if sys.platform != "linux":
        return {}
    files = list(parts.values())
    return {
        "glibc": wheels.floor(files, "GLIBC"),
        "libstdc++": wheels.floor(files, "GLIBCXX"),
    }


def requirements_text(minimums: dict[str, str]) -> str:
    """Return the requirements for a system, as text."""
    text = " and ".join(f"{name} {version}" for name, version in minimums.items())
    return f"{text} or newer" if text else "no more than every system has"


def platform_tag(wheel: Path, minimums: dict[str, str]) -> str:
    """Return the wheel's platform tag; on Linux it contains the needed glibc, which pip checks."""
    tag = wheel.stem.rpartition("-")[2]
    if "glibc" not in minimums:
        return tag
    return f"manylinux_{minimums['glibc'].replace('.', '_')}_{tag.removeprefix('linux_')}"


def build_pack(name: str, cards: str, work: Path, out: Path) -> Path:
    """Compile the module of one back end, and put it into a ZIP file with its manifest."""
    llama = work / "source" / "vendor" / "llama.cpp"
    module = compile_module(name, cards, work, llama)
    content = module.read_bytes()
    version, source = wheels.pinned(run.NATIVE_LOCK)
    manifest: dict[str, Any] = {
        "module": module.name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "llama_cpp_python": version,
        "llama_cpp": llama_version(llama),
        "source": source,
        "system": sys.platform,
        "machine": platform.machine().lower(),
        "needs": requirements({module.name: content}),
        "cards": cards or "all",
    }
    out.mkdir(parents=True, exist_ok=True)
    result = out / f"hearth-pack-{name}-{version}-{manifest['system']}-{manifest['machine']}.zip"
    part = result.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file, data in (("pack.json", json.dumps(manifest, indent=2)), (module.name, content)):
            archive.writestr(wheels.entry(f"{name}/{file}", 0o644), data, compresslevel=9)
    part.replace(result)
    run.say(
        f"{result.stat().st_size / 1e6:.1f} MB. It needs {requirements_text(manifest['needs'])}."
    )
    return result


def compile_module(name: str, cards: str, work: Path, llama: Path) -> Path:
    """Compile a module with the parts of ggml that it links to, and nothing else."""
    objects = work / name
    flags = [*MODULE_FLAGS, *backends.MODULES[name], *local_flags(work, vulkan=name == "vulkan")]
    if sys.platform == "linux":
        flags += ["-DCMAKE_INSTALL_RPATH=$ORIGIN", "-DCMAKE_MODULE_LINKER_FLAGS=-s"]
    if name == "cuda":
        compiler = Path(backends.nvcc() or "nvcc").as_posix()
        flags.append(f"-DCMAKE_CUDA_COMPILER={compiler}")
        flags += [f"-DCMAKE_CUDA_ARCHITECTURES={cards}"] if cards else []
    discard_outdated(objects, flags)
    cmake = str(PYTHON.with_name(f"cmake{run.EXE}"))
    path = os.pathsep.join([str(PYTHON.parent), os.environ["PATH"]])
    configure = [cmake, "-G", "Ninja", "-S", str(llama), "-B", str(objects), *flags]
    run.run("Setting the build up", configure, PATH=path)
    build = [cmake, "--build", str(objects), "--target", f"ggml-{name}", "-j", run.parallel_jobs()]
    run.run(f"Compiling the module for {name}", build, PATH=path)
    return next(file for file in (objects / "bin").iterdir() if file.stem.endswith(f"ggml-{name}"))


def llama_version(llama: Path) -> str:
    """Return the version number that llama.cpp has in a build of this source."""
    text = (llama / "CMakeLists.txt").read_text(encoding="utf-8")
    parts = re.findall(r"set\(LLAMA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)\)", text)
    return ".".join(parts) + "-dev"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
