"""Whether a process works with an environment just now."""

from __future__ import annotations

import os
from pathlib import Path

import psutil


def in_use(folder: Path) -> bool:
    """Whether a process was started by the interpreter of an environment."""
    within = str(folder.absolute()) + os.sep
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or [""]
        if words[0].startswith(within):
            return True
    return False
