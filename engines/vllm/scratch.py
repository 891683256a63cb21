"""A private folder for one worker, which contains the driver's library for the linker.

Uses the standard library only, because it also runs inside WSL2.
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

LONGEST_SOCKET: Final = 107
"""Longest path of a socket, in bytes. Source: man 7 unix."""

_LONGEST_NAME: Final = 40
"""Bytes to reserve for a socket's name, which in vLLM consists of 36 digits and dashes."""


_DRIVER: Final = re.compile(r"libcuda\.so\.1 \(libc6,(?:x86-64|AArch64)\b.*\) => (/.+)")
"""Matches the driver's library for this kind of processor in the output of `ldconfig -p`."""

_DRIVER_IN_WSL: Final = Path("/usr/lib/wsl/lib/libcuda.so.1")
"""The driver's library inside WSL2, which `ldconfig` does not always know."""


def runs_folder(folder: Path) -> Path:
    """Return the folder that holds the records and scratch folders of running workers."""
    return folder / "run"


def make_scratch(folder: Path) -> tuple[Path, bool]:
    """Make a scratch folder that contains a link to the driver's library.

    It lies in Hearth's folder for workers, or in the system's folder for temporary files if the
    path would be too long for sockets. If both paths are too long, it lies in Hearth's folder.

    Returns:
        The folder, and whether its path is short enough for sockets.

    Raises:
        OSError: The folder cannot be made.
    """
    name = SCRATCH + secrets.token_hex(3)
    runs = runs_folder(folder)
    make_private_folder(runs)
    close_to_others(runs)
    for parent in (runs, Path(tempfile.gettempdir())):
        scratch = parent / name
        if len(str(scratch).encode()) + _LONGEST_NAME <= LONGEST_SOCKET:
            return _make(scratch), True
    return _make(runs / name), False


def driver_library() -> Path | None:
    """Return the path of libcuda.so.1, which comes with the driver, or None if it is missing."""
    if _DRIVER_IN_WSL.exists():
        return _DRIVER_IN_WSL
    program = shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin:/usr/bin")
    if program is None:
        return None
    try:
        result = subprocess.run([program, "-p"], capture_output=True, text=True, check=False)
    except (OSError, ValueError):
        return None
    match = _DRIVER.search(result.stdout)
    return Path(match[1]) if match else None


def link_driver(folder: Path, library: Path | None) -> None:
    """Link the driver's library into a folder under the name that the linker looks for.

    Kernels are linked with libcuda.so, which comes with CUDA's development files; the driver alone
    installs only libcuda.so.1.
    """
    if library is not None:
        # Without the link, kernels that are already compiled still load.
        with suppress(OSError):
            (folder / "libcuda.so").symlink_to(library)


def _make(scratch: Path) -> Path:
    scratch.mkdir(mode=0o700)
    link_driver(scratch, driver_library())
    return scratch
