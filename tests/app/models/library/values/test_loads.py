"""Correcting estimates by the memory that earlier loads took."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.models.library.values.load_records import LoadRecord, learnt

LOAD = LoadRecord("a.gguf", "A processor", 4096, "f16", True, 0, True, 100, 100, 120, 120, 0.0)


def took(*used: int) -> list[LoadRecord]:
    return [replace(LOAD, used_bytes=it) for it in used]


def test_the_error_is_a_part_of_what_was_real() -> None:
    assert replace(LOAD, predicted_bytes=110).error == pytest.approx(0.1)
    assert replace(LOAD, predicted_bytes=90).error == pytest.approx(-0.1)
    assert replace(LOAD, real_bytes=0).error == 0


def test_nothing_is_learnt_from_nothing() -> None:
    assert learnt([], None, 100) == 0


def test_what_is_usual_is_added_and_one_odd_load_changes_nothing() -> None:
    assert learnt(took(150, 150, 150), None, 1000) == 30
    assert learnt(took(150, 150, 9_000_000), None, 1000) == 30
    assert learnt(took(120, 120, 9_000_000), None, 1000) == 0


def test_nothing_is_usual_after_one_load_or_two() -> None:
    assert learnt(took(9_000_000), None, 1000) == 0
    assert learnt(took(9_000_000, 9_000_000), None, 1000) == 0


def test_an_estimate_never_gets_smaller() -> None:
    assert learnt(took(10, 10, 10), None, 1000) == 0


def test_the_same_load_is_not_expected_to_take_less_than_it_took() -> None:
    same = replace(LOAD, used_bytes=500)
    assert learnt(took(120), same, 400) == 100
    assert learnt(took(120), same, 600) == 0
