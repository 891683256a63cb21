"""The memory that a model takes on each device, as values. Sizes are in bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

CPU: Final = "CPU"
"""The device whose memory is the computer's main memory."""


@dataclass(frozen=True)
class DeviceBuffers:
    """The buffers of a model on one device, in bytes.

    Attributes:
        device: Name of the device in the engine's library; "CPU" for the main memory.
        kv: KV cache, and the state of recurrent layers.
        compute: Intermediate values and results.
        drafter: Everything that drafting needs.
        mapped: Part of the total that is a file mapped into memory, which the system can evict.
    """

    device: str
    weights: int = 0
    kv: int = 0
    compute: int = 0
    drafter: int = 0
    mapped: int = 0

    @property
    def total(self) -> int:
        """All buffers on the device, in bytes."""
        return self.weights + self.kv + self.compute + self.drafter


@dataclass(frozen=True)
class Buffers:
    """The buffers that an engine's library allocates, or would allocate, for a model."""

    devices: tuple[DeviceBuffers, ...]

    @property
    def total(self) -> int:
        """All buffers on all devices, in bytes."""
        return sum(device.total for device in self.devices)

    @property
    def own(self) -> DeviceBuffers:
        """The buffers in the main memory."""
        return self._sum(CPU, lambda device: device == CPU)

    @property
    def cards(self) -> DeviceBuffers:
        """The buffers on all graphics cards together."""
        return self._sum("cards", lambda device: device != CPU)

    def _sum(self, name: str, matches: Callable[[str], bool]) -> DeviceBuffers:
        matching = [device for device in self.devices if matches(device.device)]
        return DeviceBuffers(
            name,
            sum(device.weights for device in matching),
            sum(device.kv for device in matching),
            sum(device.compute for device in matching),
            sum(device.drafter for device in matching),
            sum(device.mapped for device in matching),
        )
