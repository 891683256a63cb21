"""Vectors in few bytes are found again as whole ones would be."""

from __future__ import annotations

import numpy as np
import pytest

from app.store.vectors import NearVector, SignTable, encoded, middle, ranked


@pytest.mark.parametrize("dimensions", [384, 256, 40])
def test_the_nearest_vectors_are_found_by_signs_and_ordered_by_codes(dimensions: int) -> None:
    random = np.random.default_rng(1)
    vectors = random.standard_normal((5000, dimensions)).astype(np.float32)
    asked = vectors[4321] + 0.5 * random.standard_normal(dimensions).astype(np.float32)
    signs, codes = encoded(vectors.tolist(), dimensions)
    half = 2500 * dimensions // 8
    table = SignTable([(7, 100, signs[:half]), (9, 9000, signs[half:])], dimensions)
    near = table.near(asked.tolist())
    assert NearVector(9, 1821, 9000 + 1821) in near
    width = dimensions // 2
    order = ranked(
        asked.tolist(),
        {
            it.passage: codes[at * width : (at + 1) * width]
            for it in near
            for at in [it.place + (0 if it.row == 7 else 2500)]
        },
    )
    assert order[0][0] == 9000 + 1821
    exact = vectors[4321] @ asked / np.linalg.norm(vectors[4321]) / np.linalg.norm(asked)
    assert order[0][1] == pytest.approx(float(exact), abs=0.02)


def test_few_vectors_are_all_compared() -> None:
    signs, _ = encoded([[1.0] * 8, [-1.0] * 8], 8)
    assert sorted(SignTable([(1, 5, signs)], 8).near([1.0] * 8)) == [(1, 0, 5), (1, 1, 6)]
    assert SignTable([], 8).near([1.0] * 8) == []
    assert ranked([1.0], {}) == []


def test_what_lies_in_the_middle_of_all_is_not_near_every_question() -> None:
    own = np.zeros((8, 8), np.float32)
    own[:, 0], own[range(1, 8), range(1, 8)] = 1.0, 0.3  # the first has only what all have
    _, packed = encoded(own.tolist(), 8)
    codes = {number: packed[number * 4 : number * 4 + 4] for number in range(8)}
    asked = [1.0, 0.0, 0.12, *[0.0] * 5]
    assert ranked(asked, codes)[0][0] == 0
    assert ranked(asked, codes, middle(codes.values(), 8))[0][0] == 2


def test_some_vectors_come_from_everywhere() -> None:
    signs, _ = encoded([[1.0] * 8] * 9, 8)
    table = SignTable([(1, 5, signs[:3]), (2, 50, signs[3:])], 8)
    assert [it.passage for it in table.spread(3)] == [5, 51, 55]
    assert len(table.spread(100)) == 9
    assert SignTable([], 8).spread(3) == []
    assert not middle([], 8).any()
