"""Records of what loads were expected to take and took, and what is learnt from them: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_ENOUGH: Final = 3


@dataclass(frozen=True)
class LoadRecord:
    """The memory of one load that succeeded. Bytes; `when` in seconds since 1970.

    model: the file's path. device: what held it, as `Fit.device` calls it. context, kv_type, mmap
    and draft_max as in its `LoadPlan`.
    exact: whether the library itself was asked before; else it was the formula.
    predicted_bytes, real_bytes: the library's buffers, of all devices together.
    need_bytes: the whole estimate, with what the process takes beside the buffers, and without what
    was learnt.
    used_bytes: the most that was seen of the same: the buffers, or on the processor what the
    process grew by, if that is more.
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
        """The error of the prediction as a part of what was real: 0.01 is one per cent more."""
        return (self.predicted_bytes - self.real_bytes) / self.real_bytes if self.real_bytes else 0


def learnt(device: Sequence[LoadRecord], same: LoadRecord | None, need: int) -> int:
    """Return the bytes to add to an estimate of `need`, as past loads teach; 0 or more.

    device: the last loads on the same device; half of them took more than their estimate by this
    much, which one odd load does not change: of fewer than three nothing is learnt.
    same: the last load of the same model in the same way, which is never expected to take less
    than it took.
    """
    from statistics import median

    beyond = [load.used_bytes - load.need_bytes for load in device]
    usual = int(median(beyond)) if len(beyond) >= _ENOUGH else 0
    seen = same.used_bytes - need if same is not None else 0
    return max(0, usual, seen)
