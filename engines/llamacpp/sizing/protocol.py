"""Reads and writes buffers as JSON, for another process or a file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from engines.memory.buffers import Buffers, DeviceBuffers

LIMIT_S: Final = 20.0
"""Processor seconds for sizing; it reads the header, and takes well under one second."""

_DEVICES: Final = "devices"


def write_buffers(buffers: Buffers) -> dict[str, Any]:
    """Return buffers as JSON values."""
    return asdict(buffers)


def read_buffers(value: object) -> Buffers | None:
    """Read buffers; return None if the value is something else."""
    if not isinstance(value, dict) or not isinstance(value.get(_DEVICES), (list, tuple)):
        return None
    try:
        return Buffers(tuple(DeviceBuffers(**device) for device in value[_DEVICES]))
    except TypeError:
        return None
