"""The mark that a worker's processes carry in their environment, and those that carry it.

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
    """One that no other worker has."""
    return os.urandom(_BYTES).hex()


def is_mark(text: str) -> bool:
    """Whether it is as `new_mark` makes them. Raises ValueError where it is no number."""
    return len(bytes.fromhex(text)) == _BYTES


def variables(mark: str) -> dict[str, str]:
    """What the first process has to have in its environment."""
    # vLLM names its processes with setproctitle, which writes the name over the environment that
    # /proc shows, unless this forbids it. Source: setproctitle 1.3, “Environment variables”.
    return {_NAME: mark, "SPT_NOENV": "1"}


def marked(mark: str, among: Iterable[Process]) -> list[Process]:
    """Those of this user that carry it; who ends meanwhile, or cannot be asked, does not."""
    wanted = f"{_NAME}={mark}".encode()
    return [it for it in among if wanted in _variables(it.pid)]


def _variables(pid: int) -> list[bytes]:
    """As a process of this user began with them; none of another's. Source: man 5 proc."""
    try:
        with Path(f"/proc/{pid}/environ").open("rb", buffering=0) as file:
            own = os.fstat(file.fileno()).st_uid == os.geteuid()
            return file.read().split(b"\0") if own else []
    except OSError:
        return []
