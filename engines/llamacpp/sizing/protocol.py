"""Reads buffers from JSON, as another process or a file has them."""

from __future__ import annotations

from typing import Final

from engines.memory.buffers import Buffers, DeviceBuffers

LIMIT_S: Final = 20.0
"""Processor seconds for sizing; it reads the header, and takes well under one second."""

_DEVICES: Final = "devices"


def read_buffers(value: object) -> Buffers | None:
    """Read what `asdict` made of buffers; return None if the value is something else."""
    if not isinstance(value, dict) or not isinstance(value.get(_DEVICES), (list, tuple)):
        return None
    try:
        return Buffers(tuple(DeviceBuffers(**device) for device in value[_DEVICES]))
    except TypeError:
        return None
