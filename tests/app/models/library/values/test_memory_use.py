"""The segments of the memory bar, which add up to the whole."""

from __future__ import annotations

from app.models.library.values.memory_use import MemoryUse


def test_what_takes_no_room_is_not_drawn() -> None:
    use = MemoryUse("memory", 16, others=5, weights=4, compute=1)
    assert use.parts == (("others", 5), ("weights", 4), ("compute", 1))
    assert (use.used, use.free, use.missing) == (10, 6, 0)


def test_what_is_missing_is_said() -> None:
    use = MemoryUse("memory", 8, others=3, weights=7)
    assert (use.used, use.free, use.missing) == (10, 0, 2)
