"""The mark in the environment of a worker's processes, by which all of them are found.

Whatever a process starts inherits its variables, in whichever session it is and whoever its parent
is by then. So the mark tells what belongs to a worker where nobody was there to count it.

Standard library only, since the guardian uses it. Linux only.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from engines.vllm.processes import Process

_NAME: Final = "HEARTH_WORKER"
_BYTES: Final = 16


def new_mark() -> str:
    """Make a mark that no other worker has."""
    return os.urandom(_BYTES).hex()


def is_mark(text: str) -> bool:
    """Tell whether a text is as `new_mark` makes them. Raises ValueError where it is no number."""
    return len(bytes.fromhex(text)) == _BYTES


def variables(mark: str) -> dict[str, str]:
    """Return the variables that the first process must have."""
    # vLLM names its processes with setproctitle, which writes the name over the environment that
    # /proc shows, unless this forbids it. Source: setproctitle 1.3, “Environment variables”.
    return {_NAME: mark, "SPT_NOENV": "1"}


def marked(mark: str, among: Iterable[Process]) -> list[Process]:
    """Pick this user's processes that carry the mark; one that just ends does not."""
    wanted = f"{_NAME}={mark}".encode()
    return [it for it in among if wanted in _variables(it.pid)]


def _variables(pid: int) -> list[bytes]:
    """Return the variables with which a process of this user began. Source: man 5 proc."""
    try:
        with Path(f"/proc/{pid}/environ").open("rb", buffering=0) as file:
            own = os.fstat(file.fileno()).st_uid == os.geteuid()
            return file.read().split(b"\0") if own else []
    except OSError:
        return []
