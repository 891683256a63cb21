"""Compiles numpy without OpenBLAS: 28 MB of code for large matrices, of which Hearth has none.

What Hearth reckons are rows of numbers, one after the other; where two matrices are multiplied,
numpy then does so in loops of its own. What it has apart for each kind of processor is left out
but for those with AVX2, and those before.

The source is the one whose hash the app's lock has. It is compiled once for a Python and a set of
settings, and the wheel is kept.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from installers.build_error import BuildError

_LOCKS = Path(__file__).resolve().parents[1] / "lock"
_APP, _TOOLS = _LOCKS / "app.txt", _LOCKS / "numpy.txt"

_WITHOUT_BLAS = ("-Dblas=none", "-Dlapack=none", "-Dallow-noblas=true", "-Doptimization=2")
_FOR_X86 = (
    "-Dcpu-baseline=none",
    "-Dcpu-dispatch=X86_V2 X86_V3",
    "-Ddisable-svml=true",
    "-Ddisable-intel-sort=true",
)
"""For each x86-64, with more for those with SSE 4.2 and AVX2. Code by Intel that is for AVX-512, or
sorts millions of numbers, is a third of all."""

_FIRST_GLIBC = "2.2.5" if platform.machine() == "x86_64" else "2.17"
_OLD_NAMES = "".join(
    f'__asm__(".symver {name},{name}@GLIBC_{_FIRST_GLIBC}");\n' for name in ("hypot", "hypotf")
)
"""Read by the compiler before all else: without it a glibc of 2022 makes numpy ask for one of 2022,
which the oldest systems that packages are for have not."""

_ENTRY = re.compile(r"^numpy==(?:.*\\\n)*.*$", re.MULTILINE)
_PLACE = re.compile(rb'("path": )r".*"')
_FIRST_DAY = "315532800"
"""The time that all files of the wheel bear: it is compiled for many commits."""


def wheel(work: Path) -> Path:
    """Return the wheel of numpy, which is compiled where it is not in this folder yet.

    Raises BuildError, where the source cannot be had or compiled.
    """
    wanted = "\n".join(_requirements())
    tools = _TOOLS.read_text(encoding="utf-8")
    parts = (sys.version, platform.machine(), wanted, _OLD_NAMES, tools)
    folder = work / f"numpy-{hashlib.sha256(''.join(parts).encode()).hexdigest()[:16]}"
    if not folder.is_dir():
        begun = folder.with_suffix(".part")
        shutil.rmtree(begun, ignore_errors=True)
        begun.mkdir(parents=True)
        (begun / "numpy.txt").write_text(wanted, encoding="utf-8")
        (begun / "old_names.h").write_text(_OLD_NAMES, encoding="utf-8")
        _compile(begun)
        _forget_place(next(begun.glob("*.whl")))
        begun.replace(folder)
    return next(folder.glob("*.whl"))


def _requirements() -> Iterator[str]:
    """Yield the lock's entries for numpy, each of them with the settings to compile it with."""
    settings = [*_WITHOUT_BLAS, *(_FOR_X86 if platform.machine() == "x86_64" else ())]
    # Within the source: files are then named by the same way to them wherever that lies.
    words = ["build-dir=build", "install-args=--tags=runtime,python-runtime"]
    settings += [f"-D{language}_args=--include=old_names.h" for language in ("c", "cpp")]
    words += [f"setup-args={it}" for it in settings]
    options = " ".join(f"--config-settings={shlex.quote(it)}" for it in words)
    for entry in _ENTRY.findall(_APP.read_text(encoding="utf-8")):
        yield f"{entry} \\\n    {options}\n"


def _compile(folder: Path) -> None:
    """Compile what `numpy.txt` in a folder names into a wheel there, with tools of its own."""
    tools = folder / "tools"
    python = str(tools / "bin" / "python")
    pip = [python, "-I", "-m", "pip", "--disable-pip-version-check"]
    get = ["install", "--quiet", "--only-binary=:all:", "--no-deps", "--require-hashes"]
    # What pip has compiled before, with other settings, is in its cache.
    make = ["wheel", "--quiet", "--no-cache-dir", "--no-binary=:all:", "--no-deps"]
    make += ["--require-hashes"]
    make += ["--no-build-isolation", "--wheel-dir", str(folder), "-r", str(folder / "numpy.txt")]
    settings = {
        "CPATH": str(folder),
        "PATH": os.pathsep.join([str(tools / "bin"), os.environ["PATH"]]),
        "PIP_USER": "0",
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": _FIRST_DAY,
    }
    for command in (
        [sys.executable, "-m", "venv", str(tools)],
        [*pip, *get, "-r", str(_TOOLS)],
        [*pip, *make],
    ):
        if subprocess.run(command, env=os.environ | settings, check=False).returncode:
            raise BuildError(
                "numpy could not be compiled; what is missing is said above. It takes a C++ "
                "compiler, Python's headers, and numpy's source package from pip's index."
            )
    shutil.rmtree(tools)


def _forget_place(wheel: Path) -> None:
    """Take out of a wheel where the Python lay that compiled it: numpy tells that in a module."""
    with zipfile.ZipFile(wheel) as archive:
        files = [(it, archive.read(it)) for it in archive.infolist()]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in files:
            told = entry.filename == "numpy/__config__.py"
            archive.writestr(entry, _PLACE.sub(rb'\1"python"', data) if told else data)
