"""Finds processes that use an environment."""

from __future__ import annotations

import os
from pathlib import Path

from engines.vllm.processes import command_lines


def in_use(folder: Path) -> bool:
    """Return whether a process was started by the interpreter of an environment."""
    prefix = str(folder.absolute()) + os.sep
    return any(words[0].startswith(prefix) for words in command_lines())
