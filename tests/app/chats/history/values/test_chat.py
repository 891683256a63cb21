"""The first title of a chat."""

from __future__ import annotations

import pytest

from app.chats.history.values.chat import UNTITLED, title_from


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello", "Hello"),
        ("\n\n  # Heading\nmore", "Heading"),
        ("", UNTITLED),
        ("***", UNTITLED),
        ("word " * 20, "word word word word word word word word word…"),
        ("x" * 60, "x" * 48 + "…"),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert title_from(text) == title
