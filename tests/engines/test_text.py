"""Characters and stop strings, wherever the pieces are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.text import StopStrings, Utf8Decoder, held_back

ABC = st.text("abc", max_size=30)
STOPS = st.lists(st.text("abc", min_size=1, max_size=4), max_size=3)


def cut(text: str | bytes, sizes: list[int]) -> list[str | bytes]:
    """Return `text` in pieces of these sizes, and the rest in one."""
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


@given(st.text(), st.lists(st.integers(0, 3)))
def test_bytes_cut_anywhere_give_the_same_text(text: str, sizes: list[int]) -> None:
    data = text.encode("utf-8", "replace")
    decoder = Utf8Decoder()
    pieces = [decoder.feed(piece) for piece in cut(data, sizes)]  # type: ignore[arg-type]
    assert "".join(pieces) + decoder.finish() == data.decode()
    assert "\N{REPLACEMENT CHARACTER}" not in "".join(pieces) or "\N{REPLACEMENT CHARACTER}" in text


def test_bytes_that_are_no_character_become_one_that_says_so() -> None:
    decoder = Utf8Decoder()
    assert decoder.feed(b"a\xffb") == "a\N{REPLACEMENT CHARACTER}b"
    assert decoder.feed("🙂".encode()[:3]) == ""
    assert decoder.finish() == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(("data", "whole"), [(b"", 1), (b"a", 1), (b"a\xc5", 0), (b"\xff", 1)])
def test_a_decoder_knows_whether_it_is_inside_a_character(data: bytes, whole: bool) -> None:
    decoder = Utf8Decoder()
    decoder.feed(data)
    assert decoder.whole == whole


@given(ABC, STOPS, st.lists(st.integers(0, 3)))
def test_a_streamed_text_stops_where_the_whole_one_does(
    text: str, stops: list[str], sizes: list[int]
) -> None:
    streamed, whole = StopStrings(stops), StopStrings(stops)
    pieces = [streamed.feed(piece) for piece in cut(text, sizes)]  # type: ignore[arg-type]
    shown = "".join(pieces) + streamed.finish()
    assert shown == whole.feed(text) + whole.finish()
    assert text.startswith(shown)
    assert bool(streamed.hit) == any(stop in text for stop in stops)
    assert streamed.hit == whole.hit
    assert not any(stop in shown for stop in stops)
    if not streamed.hit:
        assert shown == text


@given(ABC, STOPS)
def test_no_more_is_held_back_than_may_be_a_beginning(text: str, stops: list[str]) -> None:
    held = held_back(text, stops)
    beginnings = [
        length
        for length in range(1, len(text) + 1)
        if any(stop.startswith(text[-length:]) and stop != text[-length:] for stop in stops)
    ]
    assert held == max(beginnings, default=0)


def test_a_stop_string_of_a_million_letters_takes_no_more_than_its_own_room() -> None:
    stops = StopStrings(["ab" * 500_000])
    assert stops.feed("the ab") == "the "
    assert stops.feed("c") == "abc"
