"""The mark in the environment of a worker's processes, by which all of them can be found.

A child process inherits its parent's environment, whatever its session and later parent are. So the
mark also finds processes that the guardian never saw.

Uses the standard library only, because the guardian imports it. Linux only.
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
    """Return a mark that no other worker has."""
    return os.urandom(_BYTES).hex()


def is_mark(text: str) -> bool:
    """Return whether a text has the form of a mark. Raises ValueError if it is not hexadecimal."""
    return len(bytes.fromhex(text)) == _BYTES


def variables(mark: str) -> dict[str, str]:
    """Return the environment variables that the worker's first process needs."""
    # vLLM names its processes with setproctitle, which would write the name over the environment in
    # /proc. SPT_NOENV prevents that. Source: setproctitle 1.3, “Environment variables”.
    return {_NAME: mark, "SPT_NOENV": "1"}


def marked(mark: str, candidates: Iterable[Process]) -> list[Process]:
    """Return those of the processes that carry the mark and belong to this user.

    A process that is just ending no longer shows its mark.
    """
    entry = f"{_NAME}={mark}".encode()
    return [process for process in candidates if entry in _variables(process.pid)]


def _variables(pid: int) -> list[bytes]:
    """Return the initial environment of a process of this user. Source: man 5 proc."""
    try:
        with Path(f"/proc/{pid}/environ").open("rb", buffering=0) as file:
            is_own = os.fstat(file.fileno()).st_uid == os.geteuid()
            return file.read().split(b"\0") if is_own else []
    except OSError:
        return []
