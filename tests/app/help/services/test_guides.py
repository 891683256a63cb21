"""The guides: reading their folder, searching them, and their links."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.errors import GuidesUnreadable, GuideUnknown
from app.help.services.guides import Guides

CONTENTS = "# Guides\n\n- [Second](b.md): on the other\n- [First one](a.md): on one thing\n"
A = """# First one

![A picture](../screenshots/a.png)

Words over
two lines, and a [way](b.md#deep-down).

## `hearth` in short

The needle is `here`.
"""
B = """# Second

## Deep down

| a | haystack |
|---|---|
| needle | x |

## Needle work

A haystack.
"""


@pytest.fixture
def guides(tmp_path: Path) -> Guides:
    for name, text in (("README.md", CONTENTS), ("a.md", A), ("b.md", B)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return Guides(tmp_path)


def test_the_guides_are_in_the_order_of_their_contents(guides: Guides) -> None:
    assert [(it.topic, it.title, it.summary) for it in guides.all] == [
        ("b", "Second", "on the other"),
        ("a", "First one", "on one thing"),
    ]


def test_pictures_are_left_out(guides: Guides) -> None:
    assert "picture" not in guides.guide("a").text


def test_a_guide_is_found_by_its_topic_or_file(guides: Guides) -> None:
    assert guides.guide("A").title == guides.guide("a.md").title == "First one"
    with pytest.raises(GuideUnknown, match="no guide on “c”") as refused:
        guides.guide("c")
    assert refused.value.do == "Choose one of these: b, a."


def test_a_search_finds_sections_that_hold_all_the_words_headings_first(guides: Guides) -> None:
    def found(words: str) -> list[tuple[str, str]]:
        return [(it.section.guide.topic, it.section.heading) for it in guides.search(words)]

    assert found("NEEDLE") == [
        ("b", "Needle work"),
        ("b", "Deep down"),
        ("a", "hearth in short"),
    ]
    assert found("haystack needle") == [("b", "Deep down"), ("b", "Needle work")]
    assert found("hayst") == [("b", "Deep down"), ("b", "Needle work")]
    assert found("other") == [("b", "Second")]
    assert found("nothing of it") == found(" ") == []


def test_what_was_found_is_marked_in_a_line_of_the_text(guides: Guides) -> None:
    (found,) = guides.search("two")
    assert found.snippet == "Words over two lines, and a way."
    assert [found.snippet[start:end] for start, end in found.marks] == ["two"]
    assert found.section.number == 0


def test_links_lead_to_guides_and_their_sections(guides: Guides) -> None:
    def led(address: str) -> tuple[str, int] | None:
        section = guides.section_at(address)
        return (section.guide.topic, section.number) if section else None

    assert led("b.md") == ("b", 0)
    assert led("b.md#deep-down") == ("b", 1)
    assert led("a.md#hearth-in-short") == ("a", 1)
    for lost in ("c.md", "b.md#nowhere", "https://example.org/b.md", "../b.md"):
        assert led(lost) is None


@pytest.mark.parametrize("broken", ["README.md", "a.md"])
def test_a_damaged_installation_is_told(guides: Guides, tmp_path: Path, broken: str) -> None:
    (tmp_path / broken).write_bytes(b"\xff\xfe")
    with pytest.raises(GuidesUnreadable, match=broken):
        assert guides.all
    (tmp_path / broken).unlink()
    with pytest.raises(GuidesUnreadable):
        assert guides.search("needle")
