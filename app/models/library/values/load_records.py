"""Records of the expected and real memory of loads, and the lessons from them: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_LEAST_LOADS: Final = 3


@dataclass(frozen=True)
class LoadRecord:
    """The memory of one successful load, in bytes.

    Attributes:
        model: The path of the file.
        device: The device that held it, as in `Fit.device`.
        context: As in its `LlamaPlan`, like `kv_type`, `mmap` and `draft_max`.
        exact: Whether the prediction came from the library rather than from the formula.
        predicted_bytes: The predicted size of the library's buffers, of all devices together.
        real_bytes: The real size of these buffers.
        need_bytes: The whole estimate, including what the process takes beside the buffers, without
            corrections from earlier loads.
        used_bytes: The most that was measured of the same: the buffers, or on the processor the
            growth of the process if that is more.
        when: Seconds since 1970.
    """

    model: str
    device: str
    context: int
    kv_type: str
    mmap: bool
    draft_max: int
    exact: bool
    predicted_bytes: int
    real_bytes: int
    need_bytes: int
    used_bytes: int
    when: float

    @property
    def error(self) -> float:
        """The error of the prediction relative to the real size: 0.01 is one per cent too much."""
        return (self.predicted_bytes - self.real_bytes) / self.real_bytes if self.real_bytes else 0


def learnt(device: Sequence[LoadRecord], same: LoadRecord | None, need: int) -> int:
    """Return the bytes to add to an estimate of `need`, as learnt from past loads; never negative.

    Args:
        device: The last loads on the same device. The median of their excess over the estimate is
            added, which one odd load does not change. Fewer than three loads teach nothing.
        same: The last load of the same model with the same plan; it is never expected to take less
            than it did then.
    """
    from statistics import median

    excesses = [load.used_bytes - load.need_bytes for load in device]
    typical = int(median(excesses)) if len(excesses) >= _LEAST_LOADS else 0
    last_excess = same.used_bytes - need if same is not None else 0
    return max(0, typical, last_excess)
