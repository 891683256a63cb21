"""Texts in right-to-left scripts and in scripts without spaces."""

from __future__ import annotations

import pytest

from app.markdown.blocks import Paragraph, Span
from app.markdown.direction import is_right_to_left
from app.markdown.html import html_of, plain_formula
from app.markdown.parser import Parser

PARSER = Parser()


def bold(text: str) -> list[str]:
    (block,) = PARSER.parse(text)
    assert isinstance(block, Paragraph)
    return [span.text for span in block.spans if span.bold]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("这是**“强调”**的", ["“强调”"]),
        ("**これは「重要」**です", ["これは「重要」"]),
        ("中文**重要**的内容**又**一", ["重要", "又"]),
        ("중요한**(말)**입니다", ["(말)"]),
        ("中 ** 文", []),
        ("2 ** 3 ** 4", []),
        ("a**“b”**c", []),
    ],
)
def test_bold_needs_no_spaces_where_none_are_written(text: str, expected: list[str]) -> None:
    assert bold(text) == expected


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ((Span("مرحبا hello"),), True),
        ((Span("שלום"),), True),
        ((Span("hello مرحبا"),), False),
        ((Span("42. «مرحبا»"),), True),
        ((Span("中文"),), False),
        ((Span("x", code=True), Span(" مرحبا")), True),
        ((Span("x", math="inline"), Span(" مرحبا")), True),
        ((Span("123 😀"),), False),
        ((), False),
    ],
)
def test_the_first_letter_decides_the_direction(spans: tuple[Span, ...], expected: bool) -> None:
    assert is_right_to_left(spans) is expected


def test_code_on_a_page_runs_left_to_right_among_words_from_the_right() -> None:
    html = html_of(PARSER.parse("קרא `f()`\n\nCall `g()`"), lambda latex, _: plain_formula(latex))
    assert '<code dir="ltr">f()</code>' in html
    assert "<code>g()</code>" in html
