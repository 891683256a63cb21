"""A private folder for one worker, with the driver's library in it for the linker.

Standard library only, since WSL2 needs it, too.
"""

from __future__ import annotations

import re
import secrets
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from engines.private import close_to_others, make_private_folder
from engines.vllm.leftovers import SCRATCH

_LONGEST_SOCKET: Final = 107
"""Bytes of a socket's path. Source: man 7 unix."""

_LONGEST_NAME: Final = 40
"""vLLM names the sockets between its processes after 36 digits and dashes."""


_DRIVER: Final = re.compile(r"libcuda\.so\.1 \(libc6,(?:x86-64|AArch64)\b.*\) => (/.+)")
"""The driver's library for this kind of processor, as `ldconfig -p` lists it."""

_DRIVER_IN_WSL: Final = Path("/usr/lib/wsl/lib/libcuda.so.1")
"""The driver's library in a Linux inside Windows, which `ldconfig` may not know."""


def runs_folder(folder: Path) -> Path:
    """Return the folder of the records of running workers, and of their scratch folders."""
    return folder / "run"


def make_scratch(folder: Path) -> tuple[Path, bool]:
    """Make a folder, and tell whether its path is short enough for sockets. Raises OSError.

    The driver's library is linked in it. It is in Hearth's folder for workers, or in the system's
    for temporary files where the path would be too long; where both are, in Hearth's.
    """
    name = SCRATCH + secrets.token_hex(3)
    runs = runs_folder(folder)
    make_private_folder(runs)
    close_to_others(runs)
    for parent in (runs, Path(tempfile.gettempdir())):
        scratch = parent / name
        if len(str(scratch).encode()) + _LONGEST_NAME <= _LONGEST_SOCKET:
            return _made(scratch), True
    return _made(runs / name), False


def driver_library() -> Path | None:
    """Find libcuda.so.1, which comes with the driver; None where there is none."""
    if _DRIVER_IN_WSL.exists():
        return _DRIVER_IN_WSL
    program = shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin:/usr/bin")
    if program is None:
        return None
    try:
        done = subprocess.run([program, "-p"], capture_output=True, text=True, check=False)
    except (OSError, ValueError):
        return None
    found = _DRIVER.search(done.stdout)
    return Path(found[1]) if found else None


def link_driver(folder: Path, library: Path | None) -> None:
    """Let the linker find the driver's library in a folder by the name that it looks for.

    Kernels are linked with libcuda.so, which belongs to a developer's installation of CUDA; the
    driver alone brings libcuda.so.1.
    """
    if library is not None:
        # Without the link, kernels that are ready still load.
        with suppress(OSError):
            (folder / "libcuda.so").symlink_to(library)


def _made(scratch: Path) -> Path:
    scratch.mkdir(mode=0o700)
    link_driver(scratch, driver_library())
    return scratch
