"""The snippet that a list shows of a found text."""

from __future__ import annotations

import pytest

from app.chats.search.values.snippets import snippet
from app.search.words import parse


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("## Bread\n\nThe **dough** is *warm*.", "Bread The dough is warm."),
        ("Call `dough()` first, **not last.**", "Call dough() first, not last."),
        ("dough: 2**3, a * b, __init__, #1", "dough: 2**3, a * b, __init__, #1"),
    ],
)
def test_the_signs_of_markdown_are_left_out_and_no_others(text: str, shown: str) -> None:
    words, marks = snippet(text, parse("dough"))
    assert words == shown
    assert [words[start:end] for start, end in marks] == ["dough"]
