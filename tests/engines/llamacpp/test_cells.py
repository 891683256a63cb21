"""The cells that stand for pictures and sounds among tokens."""

from __future__ import annotations

from array import array

import pytest

from engines.llamacpp.cache import best_cut, reusable
from engines.llamacpp.cells import (
    is_cell,
    make_cells,
    only_text,
    text_before,
    whole_length,
    without_position,
)


def test_the_same_medium_has_the_same_cells_and_another_has_others() -> None:
    cells = make_cells("a", 0, 40, 40)
    assert cells == make_cells("a", 0, 40, 40)
    assert cells[:10] == make_cells("a", 0, 10, 10), "however many there are"
    for other in (make_cells("b", 0, 40, 40), make_cells("a", 1, 40, 40)):
        assert not set(cells) & set(other)


def test_cells_are_no_tokens_and_fit_a_file_of_them() -> None:
    cells = make_cells("a", 0, 5000, 60)
    assert all(map(is_cell, cells))
    assert array("i", cells).tolist() == cells
    assert only_text([1, *cells, 2]) == [1, 2]
    assert text_before([1, 2, *cells, 3]) == [1, 2]


def test_a_cell_says_whether_it_has_a_position_of_its_own() -> None:
    assert without_position(make_cells("a", 0, 300, 20)) == 280
    assert without_position(make_cells("a", 0, 300, 300)) == 0
    assert without_position([7, *make_cells("a", 0, 6, 3), 8]) == 3


@pytest.mark.parametrize("length", range(12))
def test_no_picture_is_cut_in_two(length: int) -> None:
    tokens = [1, 2, *make_cells("a", 0, 5, 5), 3, 4, 5]
    assert whole_length(tokens, length) == (2 if 2 < length < 7 else length)


def test_a_prompt_with_another_picture_keeps_what_comes_before_it() -> None:
    one, other = make_cells("a", 0, 9, 9), make_cells("b", 0, 9, 9)
    held, prompt = [1, 2, *one, 3], [1, 2, *other, 3, 4]
    plain = {"first_position": 0, "sliding_window": 0, "recurrent": False}
    assert reusable(held, prompt, **plain) == 2  # type: ignore[arg-type]
    assert reusable(held, [1, 2, *one, 3, 4], **plain) == 12  # type: ignore[arg-type]
    assert reusable([1, 2, *one[:4]], [1, 2, *one, 3], **plain) == 2  # type: ignore[arg-type]


def test_a_window_is_counted_in_positions() -> None:
    """After a picture with 100 cells at 10 positions, a window holds more than it seems."""
    prompt = [*make_cells("a", 0, 100, 10), *range(50)]
    kept = best_cut(
        prompt, [*prompt[:130], 99], (), first_position=0, sliding_window=64, recurrent=False
    )
    assert kept.keep == 130
