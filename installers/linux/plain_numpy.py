"""Compiles numpy without OpenBLAS, which is 28 MB of code for large matrices.

Hearth computes with rows of numbers, one after another. The few products of matrices are computed
by numpy's own loops. Of numpy's code for kinds of processors, only that for AVX2 and older is kept.

The source is the one whose hash is in the app's lock. It is compiled once for a Python and a set of
options, and the wheel is kept.
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
"""For every x86-64 processor, with additional code for SSE 4.2 and AVX2.

Intel's code for AVX-512, and for sorting millions of numbers, would be a third of the whole.
"""

_FIRST_GLIBC = "2.2.5" if platform.machine() == "x86_64" else "2.17"
_OLD_NAMES = "".join(
    f'__asm__(".symver {name},{name}@GLIBC_{_FIRST_GLIBC}");\n' for name in ("hypot", "hypotf")
)
"""A header that the compiler reads first, for symbols of an old glibc.

Without it numpy compiled with a glibc of 2022 needs one of 2022, which the oldest supported systems
do not have.
"""

_ENTRY = re.compile(r"^numpy==(?:.*\\\n)*.*$", re.MULTILINE)
_PLACE = re.compile(rb'("path": )r".*"')
_FIRST_DAY = "315532800"
"""The time of all files in the wheel, which is compiled for many commits."""


def wheel(work: Path) -> Path:
    """Return the wheel of numpy; compile it if it is not in this folder.

    Raises BuildError if the source cannot be downloaded or compiled.
    """
    wanted = "\n".join(requirements())
    tools = _TOOLS.read_text(encoding="utf-8")
    parts = (sys.version, platform.machine(), wanted, _OLD_NAMES, tools)
    folder = work / f"numpy-{hashlib.sha256(''.join(parts).encode()).hexdigest()[:16]}"
    if not folder.is_dir():
        partial = folder.with_suffix(".part")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        (partial / "numpy.txt").write_text(wanted, encoding="utf-8")
        (partial / "old_names.h").write_text(_OLD_NAMES, encoding="utf-8")
        compile_wheel(partial)
        _remove_path(next(partial.glob("*.whl")))
        partial.replace(folder)
    return next(folder.glob("*.whl"))


def requirements() -> Iterator[str]:
    """Yield the lock's entries for numpy, each with the options for compiling it."""
    settings = [*_WITHOUT_BLAS, *(_FOR_X86 if platform.machine() == "x86_64" else ())]
    # Inside the source, so that the compiled files name their sources in the same way everywhere.
    words = ["build-dir=build", "install-args=--tags=runtime,python-runtime"]
    settings += [f"-D{language}_args=--include=old_names.h" for language in ("c", "cpp")]
    words += [f"setup-args={setting}" for setting in settings]
    options = " ".join(f"--config-settings={shlex.quote(setting)}" for setting in words)
    for entry in _ENTRY.findall(_APP.read_text(encoding="utf-8")):
        yield f"{entry} \\\n    {options}\n"


def compile_wheel(folder: Path) -> None:
    """Compile the requirement in `numpy.txt` into a wheel in this folder, with tools of its own."""
    tools = folder / "tools"
    python = str(tools / "bin" / "python")
    pip = [python, "-I", "-m", "pip", "--disable-pip-version-check"]
    install_options = ["install", "--quiet", "--only-binary=:all:", "--no-deps", "--require-hashes"]
    # pip's cache can have a wheel that was compiled with other options.
    wheel_options = ["wheel", "--quiet", "--no-cache-dir", "--no-binary=:all:", "--no-deps"]
    wheel_options += ["--require-hashes"]
    wheel_options += [
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        "-r",
        str(folder / "numpy.txt"),
    ]
    settings = {
        "CPATH": str(folder),
        "PATH": os.pathsep.join([str(tools / "bin"), os.environ["PATH"]]),
        "PIP_USER": "0",
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": _FIRST_DAY,
    }
    for command in (
        [sys.executable, "-m", "venv", str(tools)],
        [*pip, *install_options, "-r", str(_TOOLS)],
        [*pip, *wheel_options],
    ):
        if subprocess.run(command, env=os.environ | settings, check=False).returncode:
            raise BuildError(
                "numpy could not be compiled; the output above says why. It needs a C++ compiler, "
                "Python's headers, and numpy's source package from pip's index."
            )
    shutil.rmtree(tools)


def _remove_path(wheel: Path) -> None:
    """Remove the path of the compiling Python from a wheel; numpy records it in a module."""
    with zipfile.ZipFile(wheel) as archive:
        files = [(entry, archive.read(entry)) for entry in archive.infolist()]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in files:
            is_config = entry.filename == "numpy/__config__.py"
            archive.writestr(entry, _PLACE.sub(rb'\1"python"', data) if is_config else data)
