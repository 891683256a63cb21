"""Events come out whole, wherever their bytes are cut."""

from __future__ import annotations

from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.openai.client import Events

RAW = (
    "\ufeff: hi\r\ndata: aé😀\r\n\r\ndata: b\rdata: c\r\r: x\n\ndata:d\n\n"
    "event: e\nid: 7\ndata: 日本\n\ndata: [DONE]"
).encode()
EXPECTED = ["aé😀", "b\nc", "d", "日本", "[DONE]"]


def read(pieces: list[bytes]) -> list[str]:
    events = Events()
    found = [data for piece in pieces for data in events.feed(piece)]
    return found + list(events.finish())


@given(st.lists(st.integers(0, len(RAW)), max_size=12))
def test_any_cut_gives_the_same_events(cuts: list[int]) -> None:
    at = [0, *sorted(cuts), len(RAW)]
    assert read([RAW[a:b] for a, b in pairwise(at)]) == EXPECTED


def test_byte_by_byte() -> None:
    assert read([bytes([byte]) for byte in RAW]) == EXPECTED


def test_a_line_without_an_end_is_refused() -> None:
    events = Events()
    piece = b"x" * (1 << 20)
    with pytest.raises(ValueError, match="end"):
        list(chain.from_iterable(events.feed(piece) for _ in range(20)))
