"""Searching compressed vectors gives the same passages as whole ones."""

from __future__ import annotations

import numpy as np
import pytest

from app.documents.collections.store.vectors import (
    HALVES,
    Code,
    NearPassage,
    SignTable,
    encoded,
    middle,
    ranked,
)


def code(passage: int, signs: bytes, sizes: bytes, dimensions: int) -> Code:
    """Return the stored code of one of several passages."""
    long, longer = HALVES * dimensions // 8, HALVES * dimensions // 4
    return (
        signs[passage * long : (passage + 1) * long],
        sizes[passage * longer : (passage + 1) * longer],
    )


@pytest.mark.parametrize("dimensions", [384, 256, 40])
def test_the_nearest_vectors_are_found_by_signs_and_ordered_by_all(dimensions: int) -> None:
    random = np.random.default_rng(1)
    passages = random.standard_normal((5000, HALVES, dimensions)).astype(np.float32)
    passages[4321, 0] = passages[4321, 1]
    vector = passages[4321, 0]
    asked = vector + 0.5 * random.standard_normal(dimensions).astype(np.float32)
    signs, sizes = encoded(passages.tolist(), dimensions)
    half = 2500 * HALVES * dimensions // 8
    table = SignTable([(7, 100, signs[:half]), (9, 9000, signs[half:])], dimensions)
    near = table.near(asked.tolist())
    assert NearPassage(9, 1821, 9000 + 1821) in near
    kept = {
        it.passage: code(it.place + (0 if it.row == 7 else 2500), signs, sizes, dimensions)
        for it in near
    }
    order = ranked(asked.tolist(), kept)
    assert order[0][0] == 9000 + 1821
    exact = vector @ asked / np.linalg.norm(vector) / np.linalg.norm(asked)
    assert order[0][1] == pytest.approx(float(exact), abs=0.03)


def test_few_passages_are_all_compared() -> None:
    signs, _ = encoded([[[1.0] * 8] * 2, [[-1.0] * 8] * 2], 8)
    assert SignTable([(1, 5, signs)], 8).near([1.0] * 8) == [(1, 0, 5), (1, 1, 6)]
    assert SignTable([], 8).near([1.0] * 8) == []
    assert ranked([1.0], {}) == []


def test_a_passage_is_as_near_as_its_better_half_and_both_are() -> None:
    along, across = [1.0] * 8, [1.0, -1.0] * 4
    passages = [[across, across], [along, across], [along, along]]
    signs, sizes = encoded(passages, 8)
    codes = {number: code(number, signs, sizes, 8) for number in range(3)}
    order = ranked(along, codes)
    assert [number for number, _ in order] == [2, 1, 0]
    assert [nearness for _, nearness in order] == pytest.approx([1.0, 0.75, 0.0])


def test_what_lies_in_the_middle_of_all_is_not_near_every_question() -> None:
    random = np.random.default_rng(1)
    common, own = random.standard_normal(64), 0.5 * random.standard_normal((64, 64))
    own[0] = 0.0  # only the part that all vectors share
    passages = np.repeat((common + own)[:, np.newaxis], HALVES, axis=1)
    signs, sizes = encoded(passages.tolist(), 64)
    codes = {number: code(number, signs, sizes, 64) for number in range(64)}
    asked = common + 0.2 * own[2]
    assert ranked(asked.tolist(), codes)[0][0] == 0
    assert ranked(asked.tolist(), codes, middle(codes.values(), 64))[0][0] == 2


def test_some_passages_come_from_everywhere() -> None:
    signs, _ = encoded([[[1.0] * 8] * 2] * 9, 8)
    table = SignTable([(1, 5, signs[:6]), (2, 50, signs[6:])], 8)
    assert [it.passage for it in table.spread(3)] == [5, 51, 55]
    assert len(table.spread(100)) == 9
    assert SignTable([], 8).spread(3) == []
    assert not middle([], 8).any()
