"""The numbers of a repository in everyday words."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from app.models.discover.pages import words

DAY = 86_400.0


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (250_000, "250 thousand parameters"),
        (1_819_152, "2 million parameters"),
        (600_000_000, "600 million parameters"),
        (1_700_000_000, "1.7 billion parameters"),
        (8_000_000_000, "8 billion parameters"),
    ],
)
def test_parameters(qapp: QApplication, number: int, said: str) -> None:
    assert words.parameters(number) == said


def test_one_is_not_many(qapp: QApplication) -> None:
    assert [words.likes(number) for number in (0, 1, 2)] == ["0 likes", "1 like", "2 likes"]
    assert (words.downloads(1), words.downloads(1200)) == ("1 download", "1.2 k downloads")
    said = [words.ago(0.0, days * DAY) for days in (0, 1, 2, 61, 729, 731)]
    assert said == [
        "today",
        "yesterday",
        "2 days ago",
        "2 months ago",
        "24 months ago",
        "2 years ago",
    ]
