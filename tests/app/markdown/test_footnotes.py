"""Footnotes: numbered by their first mention, shown at the end."""

from __future__ import annotations

from app.markdown.blocks import Code, Paragraph, Rule, Span
from app.markdown.parser import Parser
from app.markdown.splitter import StreamSplitter

PARSER = Parser()
TEXT = "one[^b] two[^a] three[^b]\n\n[^a]: *A*\n\n    more\n\n[^b]: B\n\nend"


def test_they_are_numbered_as_they_are_mentioned() -> None:
    first = PARSER.parse(TEXT)[0]
    assert isinstance(first, Paragraph)
    assert [(span.text, span.note) for span in first.spans if span.note] == [
        ("1", "1"),
        ("2", "2"),
        ("1", "1"),
    ]


def test_they_stand_at_the_end() -> None:
    _, end, rule, *notes = PARSER.parse(TEXT)
    assert end == Paragraph((Span("end"),))
    assert rule == Rule()
    assert [(note.place.marker, note.place.note) for note in notes] == [
        ("1.", "1"),
        ("2.", "2"),
        ("", ""),
    ]
    assert notes[1] == Paragraph((Span("A", italic=True),), place=notes[1].place)


def test_one_that_is_not_mentioned_is_not_lost() -> None:
    _, _, note = PARSER.parse("text\n\n[^x]: alone")
    assert note.place.marker == "[x]"
    assert isinstance(note, Paragraph)
    assert note.spans == (Span("alone"),)


def test_brackets_without_a_definition_are_text() -> None:
    assert PARSER.parse("match [^abc]") == (Paragraph((Span("match [^abc]"),)),)


def test_code_can_stand_in_one() -> None:
    *_, marker, code = PARSER.parse("a[^1]\n\n[^1]:\n    ```\n    x\n    ```")
    assert marker.place.marker == "1."
    assert isinstance(code, Code)


def test_in_a_growing_text_they_are_put_right_at_the_end() -> None:
    splitter = StreamSplitter(PARSER)
    for character in TEXT:
        splitter.feed(character)
    assert splitter.finish() == PARSER.parse(TEXT)
