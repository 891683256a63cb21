"""Makes a private folder for one worker: standard library only, since WSL2 needs it, too."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path
from typing import Final

from engines.private import close_to_others, make_private_folder
from engines.vllm.leftovers import SCRATCH

_LONGEST_SOCKET: Final = 107
"""Bytes of a socket's path. Source: man 7 unix."""

_LONGEST_NAME: Final = 40
"""vLLM names the sockets between its processes after 36 digits and dashes."""


def runs_folder(folder: Path) -> Path:
    """Return the folder of the records of running workers, and of their scratch folders."""
    return folder / "run"


def make_scratch(folder: Path) -> tuple[Path, bool]:
    """Make a folder, and tell whether its path is short enough for sockets. Raises OSError.

    It is in Hearth's folder for workers, or in the system's for temporary files where the path
    would be too long; where both are, in Hearth's.
    """
    name = SCRATCH + secrets.token_hex(3)
    runs = runs_folder(folder)
    make_private_folder(runs)
    close_to_others(runs)
    for parent in (runs, Path(tempfile.gettempdir())):
        scratch = parent / name
        if len(str(scratch).encode()) + _LONGEST_NAME <= _LONGEST_SOCKET:
            scratch.mkdir(mode=0o700)
            return scratch, True
    scratch = runs / name
    scratch.mkdir(mode=0o700)
    return scratch, False
