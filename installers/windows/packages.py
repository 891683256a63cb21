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
    made = into / f"hearth-{version}-windows-{machine}.exe"
    sign = os.environ.get(SIGN, "")
    if sign:
        for program in sorted(bundle.glob("*.exe")):
            subprocess.run(f'{sign} "{program}"', check=True)
    else:
        print(f"{SIGN} is not set: nothing is signed.", file=sys.stderr)
    write_installer(bundle, work / "hearth.ico", made, version, sign, work / "side.bmp")
    return made


def write_installer(
    bundle: Path,
    icon: Path,
    made: Path,
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
    listed = made.with_suffix(".ini")
    names = sorted(it.name for it in bundle.iterdir())
    entries = "".join(f"{number}={name}\n" for number, name in enumerate(names))
    listed.write_text(f"[files]\n{entries}", encoding="ascii")
    size = sum(it.stat().st_size for it in bundle.rglob("*") if it.is_file())
    values = {
        "VERSION": version,
        "QUAD": quad(version),
        "PAYLOAD": bundle,
        "FILES": listed,
        "KILOBYTES": size // 1024,
        "ICON": icon,
        "OUT": made,
    }
    if sign:
        values["SIGN"] = sign
    if side is not None:
        values["SIDE"] = side
    # Every warning is an error, because an installer is tested less often than it is changed.
    words = [f"-D{name}={value}" for name, value in values.items()]
    ended = subprocess.run(
        [compiler, "-V2", "-WX", "-INPUTCHARSET", "UTF8", *words, str(FOLDER / "hearth.nsi")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    listed.unlink()
    if ended.returncode:
        raise BuildError(f"NSIS did not make the installer:\n{ended.stdout}")


def makensis() -> str | None:
    """Return NSIS' compiler: on the path or, on Windows, where its own installer puts it."""
    if found := shutil.which("makensis"):
        return found
    for variable in ("ProgramFiles(x86)", "ProgramFiles"):
        usual = Path(os.environ.get(variable, "")) / "NSIS" / "makensis.exe"
        if sys.platform == "win32" and usual.is_file():
            return str(usual)
    return None


def quad(version: str) -> str:
    """Return a version as the four numbers that Windows compares; a suffix is left out."""
    found = re.match(r"\d+(?:\.\d+){0,3}", version)
    numbers = found[0].split(".") if found else []
    return ".".join([*numbers, "0", "0", "0", "0"][:4])


PACKAGES: Final[Mapping[str, Callable[[Path, Path, str, int], Path]]] = {"nsis": make_installer}
