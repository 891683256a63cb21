"""Makes the installer for Windows from a bundle, with NSIS, which also runs on Linux.

`installers/build.py nsis` calls it on Windows.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from installers.build_error import BuildError

FOLDER: Final = Path(__file__).resolve().parent
ICONS: Final = FOLDER.parent / "icon_files.py"
SIGN: Final = "HEARTH_SIGN"
"""The variable with the command that signs a program; the program's path is appended to it.

Without it nothing is signed.
"""


def make_installer(bundle: Path, into: Path, version: str, seconds: int) -> Path:  # noqa: ARG001
    """Make `hearth-VERSION-windows-MACHINE.exe` from a bundle. Raises BuildError.

    Its files have the bundle's times, which `build.py` has set.
    """
    work = bundle.parent.parent / "nsis"
    work.mkdir(parents=True, exist_ok=True)
    python = bundle.parent.parent / "environment" / "Scripts" / "python.exe"
    subprocess.run([str(python), "-P", str(ICONS), str(work)], check=True)
    machine = platform.machine().lower()
    target = into / f"hearth-{version}-windows-{machine}.exe"
    sign = os.environ.get(SIGN, "")
    if sign:
        for program in sorted(bundle.glob("*.exe")):
            subprocess.run(f'{sign} "{program}"', check=True)
    else:
        print(f"{SIGN} is not set: nothing is signed.", file=sys.stderr)
    write_installer(bundle, work / "hearth.ico", target, version, sign, work / "side.bmp")
    return target


def write_installer(
    bundle: Path,
    icon: Path,
    target: Path,
    version: str,
    sign: str = "",
    side: Path | None = None,
) -> None:
    """Make an installer with NSIS. Raises BuildError.

    Args:
        side: A picture for its last page.
    """
    compiler = makensis()
    if compiler is None:
        raise BuildError(
            "The installer is made by NSIS 3.08 or newer, which is not here. Install it: “winget "
            "install NSIS.NSIS” on Windows, the package “nsis” on Debian and Ubuntu."
        )
    file_list = target.with_suffix(".ini")
    names = sorted(path.name for path in bundle.iterdir())
    entries = "".join(f"{number}={name}\n" for number, name in enumerate(names))
    file_list.write_text(f"[files]\n{entries}", encoding="ascii")
    size = sum(path.stat().st_size for path in bundle.rglob("*") if path.is_file())
    values = {
        "VERSION": version,
        "QUAD": quad(version),
        "PAYLOAD": bundle,
        "FILES": file_list,
        "KILOBYTES": size // 1024,
        "ICON": icon,
        "OUT": target,
    }
    if sign:
        values["SIGN"] = sign
    if side is not None:
        values["SIDE"] = side
    # Every warning is an error, because an installer is tested less often than it is changed.
    words = [f"-D{name}={value}" for name, value in values.items()]
    result = subprocess.run(
        [compiler, "-V2", "-WX", "-INPUTCHARSET", "UTF8", *words, str(FOLDER / "hearth.nsi")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    file_list.unlink()
    if result.returncode:
        raise BuildError(f"NSIS did not make the installer:\n{result.stdout}")


def makensis() -> str | None:
    """Return NSIS' compiler: on the path or, on Windows, where its own installer puts it."""
    if compiler := shutil.which("makensis"):
        return compiler
    for variable in ("ProgramFiles(x86)", "ProgramFiles"):
        program = Path(os.environ.get(variable, "")) / "NSIS" / "makensis.exe"
        if sys.platform == "win32" and program.is_file():
            return str(program)
    return None


def quad(version: str) -> str:
    """Return a version as the four numbers that Windows compares; a suffix is left out."""
    match = re.match(r"\d+(?:\.\d+){0,3}", version)
    numbers = match[0].split(".") if match else []
    return ".".join([*numbers, "0", "0", "0", "0"][:4])


PACKAGES: Final[Mapping[str, Callable[[Path, Path, str, int], Path]]] = {"nsis": make_installer}
