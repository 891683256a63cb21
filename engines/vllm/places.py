"""Where a worker's private things lie: its socket, its record, its scratch folder."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path
from typing import Final

from engines.errors import EngineFailed
from engines.vllm.command import Place
from engines.vllm.leftovers import SCRATCH

_LONGEST_SOCKET: Final = 107
"""Bytes of a socket's path. Source: man 7 unix."""

_LONGEST_NAME: Final = 40
"""vLLM names the sockets between its processes after 36 digits and dashes."""

_PORTS: Final = range(20_000, 32_000)
"""Below those that systems give to outgoing connections."""


def make_place(folder: Path) -> Place:
    """A new place for a worker whose caches and log are in `folder`. Raises EngineFailed.

    The socket is in Hearth's folder, or in the system's for temporary files where the path would
    be too long; where both are, the worker listens at a port and wants a key.
    """
    name = SCRATCH + secrets.token_hex(3)
    try:
        runs = runs_folder(folder)
        runs.mkdir(parents=True, exist_ok=True)
        runs.chmod(0o700)
        for parent in (runs, Path(tempfile.gettempdir())):
            scratch = parent / name
            if len(str(scratch).encode()) + _LONGEST_NAME <= _LONGEST_SOCKET:
                scratch.mkdir(mode=0o700)
                return Place(folder, scratch, scratch / "w.sock")
        scratch = runs / name
        scratch.mkdir(mode=0o700)
    except OSError as error:
        raise EngineFailed(
            "vLLM could not be started.",
            f"Its folder cannot be written: {error.strerror}.",
            "Check who may write to Hearth’s folder, and whether its drive is full.",
        ) from error
    return Place(folder, scratch, port=_free_port(), key=secrets.token_urlsafe(32))


def runs_folder(folder: Path) -> Path:
    """The records of running workers, and their scratch folders."""
    return folder / "run"


def record_of(place: Place) -> Path:
    """The file for `leftovers`."""
    return runs_folder(place.folder) / f"{place.scratch.name}.json"


def _free_port() -> int:
    import psutil

    used = {it.laddr.port for it in psutil.net_connections("tcp") if it.laddr}
    return secrets.choice([port for port in _PORTS if port not in used])
