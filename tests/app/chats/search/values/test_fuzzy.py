"""Fuzzy matching of a few letters, and the order of the matches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.search.values.fuzzy import fit, folded


def order(typed: str, *titles: str) -> list[str]:
    """Return the titles that match, best first."""
    scored = [(fit(folded(typed), folded(title)), title) for title in titles]
    return [title for score, title in sorted(((s, t) for s, t in scored if s is not None))][::-1]


def test_the_whole_title_then_its_beginning_then_a_word_then_a_part() -> None:
    titles = ("Zoom", "Zoom in", "Usual zoom", "Unzoomed", "Zonal room")
    assert order("zoom", *titles) == list(titles)


def test_every_word_counts_in_any_order() -> None:
    assert order("chat new", "New chat", "New folder", "Old chat") == ["New chat"]


def test_initials_find_a_title() -> None:
    assert order("cp", "Command palette", "Copy last answer")[0] == "Command palette"


@pytest.mark.parametrize(("typed", "title"), [("uber", "Über uns"), ("CAFE", "Café"), ("ß", "SS")])
def test_accents_and_case_do_not_matter(typed: str, title: str) -> None:
    assert fit(folded(typed), folded(title)) is not None


def test_letters_that_are_all_over_the_place_are_no_find() -> None:
    assert fit("adz", folded("a quite long title that ends far behind with dz")) is None


@given(st.text(), st.text())
def test_any_text_will_do(typed: str, title: str) -> None:
    found = fit(folded(typed), folded(title))
    assert found is None or found >= -len(folded(title))
    assert fit("", folded(title)) is not None
