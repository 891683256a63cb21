"""Formulas within lines and on lines of their own, and dollars that mean money."""

from __future__ import annotations

import pytest

from app.markdown.blocks import BlockPlace, Formula, Paragraph, Span
from app.markdown.parser import Parser
from app.markdown.spans import LINE_BREAK

PARSER = Parser()


def formulas(text: str) -> list[tuple[str, str]]:
    """Return the formulas of a text with their styles; "block" means on lines of its own."""
    found: list[tuple[str, str]] = []
    for block in PARSER.parse(text):
        if isinstance(block, Formula):
            found.append((block.text, "block"))
        elif isinstance(block, Paragraph):
            found += [(span.text, span.math) for span in block.spans if span.math]
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the $x^2$ of", [("x^2", "inline")]),
        (r"the \(x\) of", [("x", "inline")]),
        ("the $$x$$ of", [("x", "display")]),
        (r"the \[x\] of", [("x", "display")]),
        ("$n$th and $a_1$s", [("n", "inline"), ("a_1", "inline")]),
        ("设$x$为", [("x", "inline")]),
        ("$5+5$ is $10$.", [("5+5", "inline"), ("10", "inline")]),
        ("$a$, $b$", [("a", "inline"), ("b", "inline")]),
        ("**$x$**", [("x", "inline")]),
        (r"$\text{cost in \$}$", [(r"\text{cost in \$}", "inline")]),
        ("$a_1 * b_1$ and *c*", [("a_1 * b_1", "inline")]),
        ("$$\nx\n$$", [("x", "block")]),
        ("\\[\nx\n\\]", [("x", "block")]),
        (
            "so\n\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}\nand",
            [("\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}", "block")],
        ),
        ("\\begin{equation*}x\\end{equation*}", [("\\begin{equation*}x\\end{equation*}", "block")]),
        ("$$x$$", [("x", "block")]),
        ("So:\n$$\na\n+ b\n= c\n$$\nnow", [("a\n+ b\n= c", "block")]),
    ],
)
def test_what_is_a_formula(text: str, expected: list[tuple[str, str]]) -> None:
    assert formulas(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "$5 and $10",
        "It costs $5, $10, or $15.",
        "**$5**–**$10**",
        "$5–$10, $5/$10",
        "US$5 to US$10",
        "$5/month or $50/year",
        "$5 and 10$",
        "costs 5$ or (5$, 10$)",
        "'$' and '$'",
        "$HOME/$USER and $PATH",
        "`$x$`",
        "$ x $",
        r"\$x\$",
        r"\( and \[",
        r"\[\]",
        "$$\na\n\nb\n$$",
        "$$\na",
        "$$$$",
    ],
)
def test_what_is_not(text: str) -> None:
    assert formulas(text) == []


def test_a_formula_stands_where_its_list_or_quotation_is() -> None:
    assert Formula("x", place=BlockPlace(1)) in PARSER.parse("- a\n  $$x$$\n- b")
    assert PARSER.parse("> \\[\n> x\n> \\]") == (Formula("x", place=BlockPlace(0, "", 1)),)


def test_a_formula_that_grows_is_open_and_text_in_the_end() -> None:
    assert PARSER.parse_piece("$$\na", {}).blocks == (Formula("a", closed=False),)
    assert PARSER.parse("$$\na") == (Paragraph((Span(f"$${LINE_BREAK}a"),)),)


def test_a_formula_of_many_pages_is_text() -> None:
    assert formulas("$$\n" + "a\n" * 200 + "$$") == []
    assert formulas("$" + "a+" * 2_000 + "$") == []
