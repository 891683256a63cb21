"""Typesetting formulas as pictures."""

from __future__ import annotations

import pytest

from app.markdown.typeset import typeset, work_for


@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{-b \pm \sqrt{b^2-4ac}}{2a}",
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
        r"f(x) = \begin{cases} x & x > 0 \\ -x & x \le 0 \end{cases}",
        r"\begin{aligned} a &= b \\ &= c \end{aligned}",
        r"\sum_{i=1}^{n} i \to \infty \tag{1}",
        r"\text{if } x \in \mathbb{R}",
    ],
)
def test_what_models_write_can_be_set(latex: str) -> None:
    formula = typeset(latex, 16, "#123456", inline=False)
    assert formula is not None
    assert b"#123456" in formula.svg
    assert b"symbol" not in formula.svg
    assert formula.width > 16
    assert 0 <= formula.descent < formula.height


def test_a_formula_among_words_is_lower() -> None:
    among = typeset(r"\frac{a}{b}", 16, "black", inline=True)
    alone = typeset(r"\frac{a}{b}", 16, "black", inline=False)
    assert among is not None
    assert alone is not None
    assert among.height < alone.height


@pytest.mark.parametrize(
    "latex",
    ["", r"\frac{a}{", "{" * 500, r"\def\a{\a\a}\a", r"\hspace{99999em} x", r"\begin{matrix}"],
)
def test_what_cannot_be_set_is_left(latex: str) -> None:
    assert typeset(latex, 16, "black", inline=False) is None


@pytest.mark.parametrize("opening", [r"\frac{a}{", r"\sqrt{", "x^{", "{", "\\left("])
def test_deep_brackets_are_left_before_they_cost_anything(opening: str) -> None:
    """Each level doubles the work: thirty of them would take days."""
    latex = opening * 30 + "x" + "}" * 30
    assert work_for(latex) > 1_000_000
    assert typeset(latex, 16, "black", inline=False) is None


@pytest.mark.parametrize(
    "words",
    ["<image href='x'/>", '</mtext><image href="x"/><mtext>', "&lt;image href=x&gt;", "</svg><b>"],
)
def test_nothing_is_drawn_but_shapes(words: str) -> None:
    formula = typeset(rf"\text{{{words}}} x", 16, "black", inline=False)
    svg = formula.svg if formula else b""
    assert b"<image" not in svg
    assert b"href" not in svg


@pytest.mark.parametrize(
    "latex",
    [
        r"\begin{align} a &= b \\ c &= d \end{align}",
        r"\begin{align*} a &= b \\ c &= d \end{align*}",
        r"\begin{alignat*}{2} a &= b \\ c &= d \end{alignat*}",
        r"\begin{eqnarray} a &=& b \\ c &=& d \end{eqnarray}",
        r"\begin{equation*} a = b \end{equation*}",
        r"\begin{gather*} a = b \\ c = d \end{gather*}",
        r"\begin{multline} a = b \\ + d \end{multline}",
    ],
)
def test_an_environment_of_formulas_is_set(latex: str) -> None:
    assert typeset(latex, 17, "#000000", inline=False) is not None
