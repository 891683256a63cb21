"""Builds Hearth's packages: `python3 installers/build.py TARGET…`, standard library only.

The system's packages are made from one bundle: a folder with Hearth, its Python and all its
libraries. PyInstaller makes it as described in `hearth.spec`, in a separate environment that
contains only what the locks list. Finished packages are in `installers/dist`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from installers import licences, sbom  # noqa: E402 - needs the path above
from installers.build_error import BuildError  # noqa: E402

LOCKS = ROOT / "installers" / "lock"
DIST = ROOT / "installers" / "dist"
WORK = ROOT / ".cache" / "bundle"
BUNDLE = WORK / "made" / "hearth"
SPEC = ROOT / "installers" / "hearth.spec"

LARGEST_UNPACKED = 200_000_000
LARGEST_PACKED = 60_000_000
"""The size limits of the bundle and of a package, in bytes."""

MODELS = "the built-in models"
PARTS = (
    (MODELS, r"_internal/resources/starter/.*\.(?:gguf|safetensors)$"),
    ("Hearth's guides, fonts, icons and words", r"_internal/resources/"),
    ("code in Python: Hearth's, and of packages",
     r"hearth(?:\.exe)?$|_internal/(?:app|engines|base_library)\b|.+\.pyc$"),
    ("llama.cpp: for processors", r"_internal/llama_cpp/lib/(?:lib)?ggml-cpu"),
    ("llama.cpp: for graphics cards",
     r"_internal/llama_cpp/lib/(?:lib)?ggml-(?:vulkan|cuda|metal)"),
    ("llama.cpp: models, pictures and sounds", r"_internal/llama_cpp/"),
    ("Qt: ICU, for the order of words", r"_internal/(?:PySide6/Qt/lib/)?(?:lib)?icu"),
    ("Qt and its Python",
     r"_internal/(?:PySide6|shiboken6|libQt6|libpyside6|libshiboken6)"),
    ("numpy", r"_internal/(?:numpy|lib(?:scipy_openblas|gfortran|quadmath))"),
    ("pictures and PDFs (Pillow, pdfium)", r"_internal/(?:PIL|pillow|pypdfium2)"),
    ("llguidance, for grammars and schemas", r"_internal/llguidance"),
    ("cryptography, for the keyring", r"_internal/cryptography"),
    ("Python", r"_internal/(?:libpython|python3|lib-dynload)"),
    ("everything else", r""),
)  # fmt: skip
"""The parts of a bundle, and patterns of their files' names; the first match counts."""

Package = Callable[[Path, Path, str, int], Path]
"""Makes a package from a bundle, into a folder, with a version and a time in seconds."""

_INSTALL = ("install", "--quiet", "--no-deps", "--disable-pip-version-check")
_LOCKED = (*_INSTALL, "--require-hashes")


def main(words: Sequence[str] | None = None) -> int:
    """Build the named targets; return the exit status."""
    packages = available_packages()
    names = ["bundle", *packages, "sizes"]
    parser = argparse.ArgumentParser(description="Build Hearth's packages.")
    parser.add_argument(
        "targets", nargs="+", choices=names, metavar="TARGET", help=", ".join(names)
    )
    parser.add_argument(
        "--llama", type=Path, metavar="WHEEL", help="the wheel of llama.cpp for the bundle"
    )
    parser.add_argument(
        "--again", action="store_true", help="make the packages from the existing bundle"
    )
    args = parser.parse_args(words)
    try:
        if not args.again and args.targets != ["sizes"]:
            make_bundle(args.llama)
        if not BUNDLE.is_dir():
            raise BuildError("There is no bundle yet: build the target `bundle` first.")
        for name in args.targets:
            if name in packages:
                DIST.mkdir(exist_ok=True)
                package = packages[name](BUNDLE, DIST, version(), epoch())
                print(f"{package}: {package.stat().st_size / 1e6:.1f} MB")
            elif name == "sizes":
                print("\n".join(sizes(BUNDLE, packages_in(DIST))))
    except (BuildError, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def available_packages() -> Mapping[str, Package]:
    """Return the packages that this system can make from a bundle, by the target's name."""
    if sys.platform == "linux":
        from installers.linux.packages import PACKAGES as OF_LINUX

        return OF_LINUX
    if sys.platform == "win32":
        from installers.windows.packages import PACKAGES as OF_WINDOWS

        return OF_WINDOWS
    if sys.platform == "darwin":
        from installers.macos.packages import PACKAGES as OF_MACOS

        return OF_MACOS
    return {}


def version() -> str:
    """Return Hearth's version."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def epoch() -> int:
    """Return the time for all files of a package: that of the commit, in seconds since 1970."""
    if from_environment := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(from_environment)
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    try:
        return int(subprocess.run(command, capture_output=True, check=True).stdout)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return int((ROOT / "pyproject.toml").stat().st_mtime)


def llama_wheel(wheel: Path | None) -> Path:
    """Return the llama.cpp for the bundle: the given wheel, the portable one, or run.py's."""
    if wheel is not None:
        if not wheel.is_file():
            raise BuildError(f"There is no wheel at {wheel}.")
        return wheel
    if portable := newest(DIST, "llama_cpp_python-*.whl"):
        return portable
    if own := newest(ROOT / ".cache", "llama-*/llama_cpp_python-*.whl"):
        say(
            "There is no portable llama.cpp in installers/dist, as installers/native/build.py "
            "makes it. The one that run.py compiled for this computer is used instead."
        )
        return own
    raise BuildError(
        "There is no llama.cpp to put into the bundle. Build it with installers/native/build.py, "
        "or let run.py compile one for this computer."
    )


def newest(folder: Path, pattern: str) -> Path | None:
    """Return the newest file that matches a pattern; None if there is none."""
    return max(folder.glob(pattern), key=lambda file: file.stat().st_mtime, default=None)


def compiled_wheels(llama: Path | None) -> list[Path]:
    """Return the wheels that replace those of the locks.

    Args:
        llama: The given wheel of llama.cpp, or None.
    """
    wheels = [llama_wheel(llama)]
    if sys.platform == "linux":
        from installers.linux import plain_numpy

        say("Taking a numpy without OpenBLAS, which is compiled the first time")
        wheels.append(plain_numpy.wheel(WORK))
    return wheels


def environment(wheels: Sequence[Path]) -> Path:
    """Return the Python of the environment to pack, which is created if necessary.

    It is created again if a lock, the Python, or one of the compiled wheels has changed.
    """
    folder = WORK / "environment"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    locks = [LOCKS / "app.txt", LOCKS / "package.txt"]
    parts = [sys.version.encode(), *(path.read_bytes() for path in [*locks, *wheels])]
    digest = hashlib.sha256(b"".join(hashlib.sha256(path).digest() for path in parts)).hexdigest()
    stamp = folder / "hearth-made-of"
    if stamp.is_file() and stamp.read_text(encoding="ascii") == digest:
        return python
    say("Making the environment that is packed")
    shutil.rmtree(folder, ignore_errors=True)
    run([sys.executable, "-m", "venv", str(folder)])
    for words in (
        [*_LOCKED, *(word for lock in locks for word in ("-r", str(lock)))],
        [*_INSTALL, "--no-index", "--force-reinstall", *map(str, wheels)],
    ):
        run([str(python), "-I", "-m", "pip", *words], PIP_USER="0")
    stamp.write_text(digest, encoding="ascii")
    return python


def make_bundle(wheel: Path | None) -> None:
    """Make the bundle from scratch."""
    python = environment(compiled_wheels(wheel))
    say("Putting the bundle together")
    shutil.rmtree(BUNDLE.parent, ignore_errors=True)
    run(
        [
            str(python), "-P", "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN",
            "--distpath", str(BUNDLE.parent), "--workpath", str(WORK / "work"), str(SPEC),
        ],
        PYTHONHASHSEED="0",
        PYTHONPATH=str(ROOT),
        SOURCE_DATE_EPOCH=str(epoch()),
    )  # fmt: skip
    if sys.platform == "linux":
        from installers.linux import icu, libraries

        libraries.strip(BUNDLE)
        libraries.share_xcb(BUNDLE)
        for tables in BUNDLE.glob("_internal/PySide6/Qt/lib/libicudata.so.*"):
            icu.shorten(tables, WORK / "work")
        if unknown := libraries.unexpected(BUNDLE):
            raise BuildError(
                "The bundle needs libraries that it does not contain, and no known package has "
                f"them: {', '.join(sorted(unknown))}. Add them to installers/linux/libraries.py."
            )
    sbom.write(BUNDLE, licences.pack(BUNDLE, python), version(), epoch())
    for described in BUNDLE.rglob("*.dist-info/METADATA"):
        # The text after the first empty line is the package's page in the index.
        described.write_bytes(described.read_bytes().partition(b"\n\n")[0] + b"\n")
    for record in BUNDLE.rglob("*.dist-info/RECORD"):
        record.unlink()  # It has hashes of scripts that contain a path of this computer.
    normalise_files(BUNDLE, epoch())
    print(f"{BUNDLE}: {size_of(BUNDLE) / 1e6:.1f} MB")


def normalise_files(folder: Path, seconds: int) -> None:
    """Give all files the same time, and modes that depend only on their kind."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            executable = path.is_dir() or bool(path.stat().st_mode & 0o100)
            path.chmod(0o755 if executable else 0o644)
        os.utime(path, (seconds, seconds), follow_symlinks=False)


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder without links."""
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.lstat().st_size for file in files if file.is_file() and not file.is_symlink())


def sizes(bundle: Path, packages: Sequence[Path]) -> Iterator[str]:
    """Yield the lines of a markdown table with the sizes of a bundle and its packages."""
    bytes_of_part = dict.fromkeys((name for name, _ in PARTS), 0)
    for path in bundle.rglob("*"):
        if path.is_file() and not path.is_symlink():
            bytes_of_part[part_of(path.relative_to(bundle).as_posix())] += path.stat().st_size
    total = sum(bytes_of_part.values())
    yield "| Part | MB |"
    yield "| --- | --- |"
    for name, size in sorted(bytes_of_part.items(), key=lambda entry: -entry[1]):
        yield f"| {name} | {size / 1e6:.1f} |"
    yield f"| **all, unpacked** (at most {LARGEST_UNPACKED // 10**6}) | **{total / 1e6:.1f}** |"
    models = bytes_of_part[MODELS]
    yield f"| without the built-in models | {(total - models) / 1e6:.1f} |"
    for package in packages:
        size = package.stat().st_size
        yield f"| `{package.name}` (at most {LARGEST_PACKED // 10**6}) | {size / 1e6:.1f} |"


def part_of(name: str) -> str:
    """Return the part of Hearth that a file of the bundle belongs to."""
    return next(part for part, pattern in PARTS if re.match(pattern, name))


def packages_in(folder: Path) -> list[Path]:
    """Return the packages of Hearth in a folder."""
    return [file for file in sorted(folder.glob("hearth[-_]*")) if file.is_file()]


def run(command: Sequence[str], **settings: str) -> None:
    """Run a step of the build. Raises BuildError."""
    started = time.monotonic()
    result = subprocess.run(command, env=os.environ | settings, cwd=ROOT, check=False)
    if result.returncode:
        raise BuildError(f"This failed with code {result.returncode}: {' '.join(command)}")
    say(f"  {time.monotonic() - started:.0f} s")


def say(line: str) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
