"""Locations of a worker's private files: its socket, its record and its scratch folder."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from engines.errors import EngineFailed
from engines.sentences import N_
from engines.vllm.command import WorkerPlace
from engines.vllm.scratch import make_scratch, runs_folder

_PORTS: Final = range(20_000, 32_000)
"""Below the ports that systems use for outgoing connections."""


def make_place(folder: Path) -> WorkerPlace:
    """Make the place of a worker whose caches and log lie in `folder`.

    If the path of a socket would be too long, the worker listens on a port and requires a key.

    Raises:
        EngineFailed: The folder cannot be written.
    """
    try:
        scratch, short = make_scratch(folder)
    except OSError as error:
        raise unwritable(error) from error
    return at_socket(folder, scratch) if short else at_port(folder, scratch)


def at_socket(folder: Path, scratch: Path) -> WorkerPlace:
    """Return a place with a socket in the scratch folder, which no other user can reach."""
    return WorkerPlace(folder, scratch, scratch / "w.sock")


def at_port(folder: Path, scratch: Path) -> WorkerPlace:
    """Return a place with a port of this computer, for a worker that a socket cannot reach."""
    return WorkerPlace(folder, scratch, port=_free_port(), key=secrets.token_urlsafe(32))


def unwritable(error: OSError) -> EngineFailed:
    """Return the error for a folder of workers that cannot be written."""
    return EngineFailed(
        N_("vLLM could not be started."),
        N_("Its folder cannot be written: {strerror}.", strerror=error.strerror),
        N_("Check who may write to Hearth’s folder, and whether its drive is full."),
    )


def record_of(place: WorkerPlace) -> Path:
    """Return the path of a worker's record; see `leftovers`."""
    return runs_folder(place.folder) / f"{place.scratch.name}.json"


def _free_port() -> int:
    import psutil

    used_ports = {
        connection.laddr.port for connection in psutil.net_connections("tcp") if connection.laddr
    }
    return secrets.choice([port for port in _PORTS if port not in used_ports])
