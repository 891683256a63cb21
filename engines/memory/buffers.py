"""The memory that a model takes, device by device, as values. Sizes are bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

CPU: Final = "CPU"
"""The device whose memory is the computer's own."""


@dataclass(frozen=True)
class DeviceBuffers:
    """The buffers of a model on one device, in bytes.

    device: as the engine's library calls it, "CPU" for the computer's own memory.
    kv: keys and values, and the state of recurrent layers. compute: intermediate values and
    results. drafter: all of what drafts ahead. mapped: what of it all is a file mapped into
    memory, which can leave memory again.
    """

    device: str
    weights: int = 0
    kv: int = 0
    compute: int = 0
    drafter: int = 0
    mapped: int = 0

    @property
    def total(self) -> int:
        return self.weights + self.kv + self.compute + self.drafter


@dataclass(frozen=True)
class Buffers:
    """The buffers that an engine's library allocates for a model, or would, by device."""

    devices: tuple[DeviceBuffers, ...]

    @property
    def total(self) -> int:
        return sum(device.total for device in self.devices)

    @property
    def own(self) -> DeviceBuffers:
        """The buffers in the computer's own memory."""
        return self._sum(CPU, lambda device: device == CPU)

    @property
    def cards(self) -> DeviceBuffers:
        """The buffers on all graphics cards together."""
        return self._sum("cards", lambda device: device != CPU)

    def _sum(self, name: str, wanted: Callable[[str], bool]) -> DeviceBuffers:
        found = [device for device in self.devices if wanted(device.device)]
        return DeviceBuffers(
            name,
            sum(device.weights for device in found),
            sum(device.kv for device in found),
            sum(device.compute for device in found),
            sum(device.drafter for device in found),
            sum(device.mapped for device in found),
        )
