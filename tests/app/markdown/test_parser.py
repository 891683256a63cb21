"""Parsing Markdown into the blocks that the window shows."""

from __future__ import annotations

import time

import pytest

from app.markdown.blocks import BlockPlace, Code, Paragraph, Rule, Span, Table
from app.markdown.parser import Parser
from app.markdown.spans import LINE_BREAK, is_openable


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


def test_styles_nest(parser: Parser) -> None:
    assert parser.parse("a **b *c* `d`** ~~e~~") == (
        Paragraph(
            (
                Span("a "),
                Span("b ", bold=True),
                Span("c", bold=True, italic=True),
                Span(" ", bold=True),
                Span("d", bold=True, code=True),
                Span(" "),
                Span("e", strike=True),
            )
        ),
    )


def test_a_new_line_stays_a_new_line(parser: Parser) -> None:
    assert parser.parse("roses\nviolets") == (Paragraph((Span(f"roses{LINE_BREAK}violets"),)),)


def test_lists_are_paragraphs_with_markers(parser: Parser) -> None:
    blocks = parser.parse("- a\n- b\n  1. c\n  2. d\n\n- [x] e")
    assert [(block.place.indent, block.place.marker) for block in blocks] == [
        (1, "•"),
        (1, "•"),
        (2, "1."),
        (2, "2."),
        (1, "☑"),
    ]


def test_a_list_begins_where_it_says(parser: Parser) -> None:
    assert [block.place.marker for block in parser.parse("7. a\n8. b")] == ["7.", "8."]


def test_the_second_paragraph_of_an_item_has_no_marker(parser: Parser) -> None:
    first, second = parser.parse("- a\n\n  b")
    assert first.place == BlockPlace(1, "•")
    assert second.place == BlockPlace(1, "")


@pytest.mark.parametrize("inside", ["```\nx\n```", "    x", "***", "- x", "> x\n", ""])
def test_an_item_has_its_marker_whatever_it_holds(parser: Parser, inside: str) -> None:
    text = "\n".join(["- " + "\n  ".join(inside.split("\n")), "- last"])
    markers = [block.place.marker for block in parser.parse(text) if block.place.marker]
    assert markers[0] == "•"
    assert markers.count("•") == 2


def test_the_language_of_code_is_a_plain_word(parser: Parser) -> None:
    assert parser.parse("``` C\\+&amp; x\na\n```") == (Code("a", "c+&"),)


def test_what_is_nested_too_deep_is_shown_as_written(parser: Parser) -> None:
    for text in (">" * 5_000 + "word", "- " * 5_000 + "word"):
        *_, last = parser.parse(text)
        assert isinstance(last, Paragraph)
        assert last.spans[-1].text.endswith("word")
        assert sum(len(span.text) for span in last.spans) > len(text) - 200


def test_a_table_without_end_is_shown_as_written(parser: Parser) -> None:
    wide = "|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n" + ("|" + "1|" * 200 + "\n") * 200
    (block,) = parser.parse(wide)
    assert block == Code(wide.strip(), "markdown")


def test_quotations_count(parser: Parser) -> None:
    assert [block.place.quote for block in parser.parse("> a\n> > b\n\nc")] == [1, 2, 0]


def test_a_fence_is_open_until_its_end_is_written(parser: Parser) -> None:
    assert parser.parse("```Python x\nprint()") == (Code("print()", "python", closed=False),)
    assert parser.parse("```python\nprint()\n```") == (Code("print()", "python", closed=True),)
    assert parser.parse("````\n```\n") == (Code("```", "", closed=False),)


def test_a_table_has_as_many_cells_in_each_row(parser: Parser) -> None:
    (table,) = parser.parse("| a | b |\n|:-:|--:|\n| 1 |\n| 1 | 2 | 3 |")
    assert isinstance(table, Table)
    assert table.align == ("center", "right")
    assert [len(row) for row in table.rows] == [2, 2, 2]


def test_html_is_text(parser: Parser) -> None:
    text = "<script>alert(1)</script> <img src=x onerror=y>"
    assert parser.parse(text) == (Paragraph((Span(text),)),)


def test_a_rule(parser: Parser) -> None:
    assert parser.parse("a\n\n---\n\nb")[1] == Rule()


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](file:///etc/passwd)",
        "[x](data:text/html,x)",
        "[x](vbscript:x)",
        "[x](other:app)",
        "<ftp://example.com>",
    ],
)
def test_only_addresses_that_a_browser_opens_are_links(parser: Parser, text: str) -> None:
    (block,) = parser.parse(text)
    assert isinstance(block, Paragraph)
    assert not any(span.href for span in block.spans)


def test_links(parser: Parser) -> None:
    (block,) = parser.parse("[a](https://a.example) http://b.example main.py mailto:c@d.example")
    assert isinstance(block, Paragraph)
    assert [span.href for span in block.spans if span.href] == [
        "https://a.example",
        "http://b.example",
        "mailto:c@d.example",
    ]


def test_a_picture_is_a_link_with_its_text(parser: Parser) -> None:
    (block,) = parser.parse("![a cat](https://example.com/cat.png)")
    assert block == Paragraph((Span("a cat", href="https://example.com/cat.png"),))


def test_what_can_be_opened() -> None:
    assert is_openable("HTTPS://example.com")
    assert not is_openable("smb://server/share")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "![" * 20_000,
        "*a " * 10_000,
        "**a" * 10_000,
        ">" * 5_000 + "a",
        "- " * 3_000 + "a",
        "`" * 20_000 + "a",
        "|" * 3_000 + "\n" + "|-" * 3_000,
        "a|" * 2_000 + "\n" + "-|" * 2_000 + "\n" + "x\n" * 500,
        "<" * 20_000,
        "&#x110000;" * 3_000,
        "[a]: " + "b" * 20_000,
        "http://" + "a." * 10_000,
        "\0" * 100,
        "\u202e\ufeff\ud7ff\U0001f600" * 2_000,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_hostile_text_does_not_take_long(parser: Parser, text: str) -> None:
    """Each of these takes far less than ten seconds; exponential work would take far more."""
    began = time.process_time()
    parser.parse(text)
    assert time.process_time() - began < 10


def test_a_page_of_our_own_flows_over_the_ends_of_lines_and_links_to_others() -> None:
    text = "One [way](other.md#there)\nand [out](file:///etc/passwd) [away](//example.org/x)."
    (shown,) = Parser(document=True).parse(text)
    assert isinstance(shown, Paragraph)
    assert shown.spans == (
        Span("One "),
        Span("way", href="other.md#there"),
        Span(" and out away."),
    )


def test_what_a_model_writes_links_to_no_page(parser: Parser) -> None:
    (shown,) = parser.parse("One [way](other.md)\nand")
    assert isinstance(shown, Paragraph)
    assert [span.href for span in shown.spans] == [""]
    assert LINE_BREAK in shown.spans[0].text
