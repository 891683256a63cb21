"""Merging the rankings by words and by meaning into one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from app.documents.collections.values import FoundPassage, fused, joined
from app.documents.values.documents import Location, LocationKind, TextSpan

PAGE = Location(LocationKind.PAGE, 3)
FOUND = FoundPassage(
    "Lease",
    "a.pdf",
    Path("a.pdf"),
    "0" * 64,
    TextSpan(PAGE, 5, 9),
    105,
    109,
    "rent",
    0.5,
    ("text",),
)


def sure(*numbers: int) -> list[tuple[int, float]]:
    return [(it, 1.0) for it in numbers]


def test_what_both_have_found_comes_before_what_one_has_found_first() -> None:
    found = fused({"text": sure(1, 2, 3), "vector": sure(4, 3, 5)})
    assert [it for it, _, _ in found] == [3, 1, 4, 2, 5]
    assert found[0][2] == ("text", "vector")
    assert found[0][1] == 1 / 63 + 1 / 62


def test_where_one_of_them_has_found_nothing_the_other_decides() -> None:
    assert [it for it, _, _ in fused({"text": [], "vector": sure(7, 5)})] == [7, 5]
    assert fused({"text": []}) == []


def test_what_has_little_of_the_question_comes_after_what_has_its_meaning() -> None:
    found = fused({"text": [(1, 0.04), (2, 0.01)], "vector": sure(3, 4)})
    assert [it for it, _, _ in found] == [3, 4, 1, 2]


def test_what_stands_in_two_collections_is_told_once() -> None:
    other = replace(FOUND, collection="Copies", score=0.4)
    later = replace(FOUND, span=TextSpan(PAGE, 9, 20), score=0.45)
    assert joined([[other], [FOUND, later]]) == [FOUND, later]


def test_a_passage_says_where_its_words_in_a_prompt_come_from() -> None:
    source = FOUND.source
    assert (source.origin, source.name, source.document) == ("file", "a.pdf", "0" * 64)
    assert (source.place, source.start, source.end) == (3, 5, 9)
    assert (FOUND.passage.text, FOUND.place) == ("rent", PAGE)
