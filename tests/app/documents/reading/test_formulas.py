"""Reading formulas with their markup: powers, indices, fractions and roots."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

from app.documents.citations.values import CitationCheck
from app.documents.values.documents import AttachedFile, Unread
from tests.app.documents.reading.conftest import Read
from tests.support import made_documents as made

M = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def t(text: str) -> str:
    return f"<m:r><m:rPr><m:sty m:val='p'/></m:rPr><m:t>{text}</m:t></m:r>"


def e(inner: str) -> str:
    return f"<m:e>{inner}</m:e>"


def sup(base: str, power: str) -> str:
    return f"<m:sSup>{e(base)}<m:sup>{power}</m:sup></m:sSup>"


def sub(base: str, index: str) -> str:
    return f"<m:sSub>{e(base)}<m:sub>{index}</m:sub></m:sSub>"


def over(above: str, below: str, form: str = "bar") -> str:
    return (
        f"<m:f><m:fPr><m:type m:val='{form}'/></m:fPr>"
        f"<m:num>{above}</m:num><m:den>{below}</m:den></m:f>"
    )


def root(inner: str, degree: str = "") -> str:
    return f"<m:rad><m:deg>{degree}</m:deg>{e(inner)}</m:rad>"


SUM = (
    "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>" + t("i=1") + "</m:sub><m:sup>"
    + t("k") + "</m:sup>" + e(sub(t("a"), t("i"))) + "</m:nary>"
)  # fmt: skip
MATRIX = (
    f"<m:d>{e('<m:m><m:mr>' + e(t('1')) + e(t('2')) + '</m:mr><m:mr>' + e(t('3')) + e(t('4')))}"
    "</m:d>"
).replace("</m:e></m:d>", "</m:mr></m:m></m:e></m:d>")
LIMIT = f"<m:func><m:fName><m:limLow>{e(t('lim'))}<m:lim>{t('x→0')}</m:lim></m:limLow></m:fName>"

OMML = [
    (sup(t("10"), t("2")), "10²"),
    (sup(t("10"), t("-3")), "10⁻³"),
    (sup(t("a"), t("n+1")), "aⁿ⁺¹"),
    (sup(t("e"), t("2x")), "e^(2x)"),
    (sup(t("2"), t("nd")), "2^(nd)"),
    (sub(t("x"), t("1")), "x₁"),
    (sub(t("v"), t("max")), "v_(max)"),
    (over(t("a"), t("b")), "a/b"),
    (over(t("a+b"), t("c")), "(a+b)/c"),
    (over(t("1"), t("2a")), "1/(2a)"),
    (over(t("1"), sub(t("x"), t("1"))), "1/x₁"),
    (t("1") + over(t("1"), t("2")), "1 1/2"),
    (over(t("1"), t("2")) + t("5"), "1/2 5"),
    (over(t("n"), t("k"), "noBar"), "binom(n, k)"),
    (sup(over(t("a"), t("b")), t("2")), "(a/b)²"),
    (root(t("2")), "√(2)"),
    (root(t("8"), t("3")), "∛(8)"),
    (root(t("x"), t("n")), "root(n, x)"),
    (SUM, "∑_(i=1)^k a_i"),
    (MATRIX, "(1, 2; 3, 4)"),
    (LIMIT + e(t("f")) + "</m:func>", "lim_(x→0) f"),
    (f"<m:sSubSup>{e(t('x'))}<m:sub>{t('1')}</m:sub><m:sup>{t('2')}</m:sup></m:sSubSup>", "x₁²"),
    (f"<m:acc>{e(t('x'))}</m:acc>", "hat(x)"),
]


@pytest.mark.parametrize(("formula", "shown"), OMML)
def test_a_formula_of_a_docx_keeps_its_meaning(
    read: Read, tmp_path: Path, formula: str, shown: str
) -> None:
    body = f"<w:p><w:r><w:t>is </w:t></w:r><m:oMath xmlns:m='{M}'>{formula}</m:oMath></w:p>"
    assert read(made.docx(tmp_path / "a.docx", body)).text == f"is {shown}"


def test_a_formula_may_stand_between_paragraphs(read: Read, tmp_path: Path) -> None:
    formula = f"<m:oMathPara xmlns:m='{M}'><m:oMath>{sup(t('10'), t('2'))}</m:oMath></m:oMathPara>"
    body = made.paragraph("Before") + formula + made.paragraph("Behind")
    assert read(made.docx(tmp_path / "a.docx", body)).text == "Before\n\n10²\n\nBehind"


def test_formulas_without_end_are_read_as_far_as_they_make_sense(
    read: Read, tmp_path: Path
) -> None:
    deep = "<m:e>" * 5000 + "<m:r><m:t>x</m:t></m:r>" + "</m:e>" * 5000
    body = f"<w:p><w:r><w:t>is </w:t></w:r><m:oMath xmlns:m='{M}'>{deep}</m:oMath></w:p>"
    document = read(made.docx(tmp_path / "a.docx", body))
    assert document.text.startswith("is ")
    (tmp_path / "a.html").write_text("<html><p>is <math>" + "<msup><mrow>" * 50_000)
    assert read(tmp_path / "a.html").text.startswith("is")


def test_a_formula_of_a_pptx_keeps_its_meaning(read: Read, tmp_path: Path) -> None:
    formula = (
        f"<m:oMathPara xmlns:m='{M}'><m:oMath>{sup(t('10'), t('2'))}</m:oMath></m:oMathPara>"
        f"<a:r><a:t> m, H</a:t></a:r><a:r><a:rPr baseline='-25000'/><a:t>2</a:t></a:r>"
        "<a:r><a:t>O</a:t></a:r>"
    )
    path = made.pptx(tmp_path / "a.pptx", [("Area", "MARK", "")])
    slide = made.slide(("body", "MARK")).replace("<a:r><a:t>MARK</a:t></a:r>", formula)
    made.replaced(path, "ppt/slides/slide1.xml", slide)
    assert read(path).text == "10² m, H₂O"


ROWS = (
    "<mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr>"
    "<mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr>"
)
SQUARE = "<msup><mi>x</mi><mn>2</mn></msup>"
FROM = "<mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow>"
INDEX = "<msub><mi>a</mi><mi>i</mi></msub>"

MATHML = [
    ("<msup><mn>10</mn><mn>2</mn></msup>", "10²"),
    ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a+b)/c"),
    ("<mn>1</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "1 1/2"),
    ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", "√(x+1)"),
    ("<mroot><mi>x</mi><mn>3</mn></mroot>", "∛(x)"),
    ("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "x₁²"),
    (
        f"<munderover><mo>∑</mo>{FROM}<mi>k</mi></munderover>{INDEX}",
        "∑_(i=1)^k a_i",
    ),
    (
        f"<mrow><mo>(</mo><mtable>{ROWS}</mtable><mo>)</mo></mrow>",
        "([1, 2; 3, 4])",
    ),
    ("<mi>sin</mi><mi>x</mi>", "sin x"),
    ("<mover><mi>x</mi><mo>¯</mo></mover>", "overline(x)"),
    (
        f"<semantics>{SQUARE}<annotation encoding='application/x-tex'>x^2</annotation></semantics>",
        "x²",
    ),
    ("<mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>", "₆¹⁴C"),
    ("<apply><plus/><ci>x</ci></apply>", "(formula, not read)"),
]


@pytest.mark.parametrize(("formula", "shown"), MATHML)
@pytest.mark.parametrize("prefix", ["", "m:"])
def test_mathml_keeps_its_meaning(
    read: Read, tmp_path: Path, formula: str, shown: str, prefix: str
) -> None:
    if prefix:
        formula = formula.replace("</", "\0").replace("<", "<m:").replace("\0", "</m:")
    page = f"<p>is <{prefix}math>{formula}</{prefix}math> so</p>"
    (tmp_path / "a.html").write_text(f"<html><body>{page}</body></html>")
    assert read(tmp_path / "a.html").text == f"is {shown} so"
    path = made.epub(tmp_path / "a.epub", {"a": f"<html><body>{page}</body></html>"})
    assert read(path).text == f"is {shown} so"


def test_a_formula_that_a_page_draws_as_well_is_read_once(read: Read, tmp_path: Path) -> None:
    """KaTeX also draws 10² as plain figures, and a picture of a formula has an alternative text."""
    math = "<math><msup><mn>10</mn><mn>2</mn></msup></math>"
    page = (
        f'<p><span class="katex"><span class="katex-mathml">{math}</span>'
        '<span class="katex-html" aria-hidden="true"><span>10</span><span>2</span></span></span> m'
        f'<p><span class="mwe-math-mathml-inline" style="display: none">{math}</span>'
        '<img class="mwe-math-fallback" alt="10^{2}"> m<p><img class="tex" alt="x^2"> m'
    )
    (tmp_path / "a.html").write_text(f"<html>{page}")
    assert read(tmp_path / "a.html").text == "10² m\n\n10² m\n\nx^2 m"


def test_a_formula_that_is_never_closed_leaves_the_rest_of_the_page(
    read: Read, tmp_path: Path
) -> None:
    (tmp_path / "a.html").write_text("<html><p>a <math><mn>1</mn><p>next</p><sup>2<p>9 m")
    assert read(tmp_path / "a.html").text == "a 1\n\nnext\n\n²\n\n9 m"


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>"


RAISED, LOWERED = "<w:vertAlign w:val='superscript'/>", "<w:vertAlign w:val='subscript'/>"

SHIFTED = [
    ("10", "raised", "2", " m", "10² m"),
    ("e", "raised", "x", " m", "e^x m"),
    ("2", "raised", "x", "y", "2^(x)y"),
    ("10", "raised", "1,5", " m", "10^(1,5) m"),
    ("the 4", "raised", "th", " of May", "the 4th of May"),
    ("word", "raised", "[1]", " m", "word[1] m"),
    ("Hearth", "raised", "TM", " m", "HearthTM m"),
    ("H", "lowered", "2", "O", "H₂O"),
    ("v", "lowered", "max", " m", "v_(max) m"),
]


@pytest.mark.parametrize(("before", "shift", "text", "behind", "shown"), SHIFTED)
def test_raised_and_lowered_words_are_read_as_such(
    read: Read, tmp_path: Path, before: str, shift: str, text: str, behind: str, shown: str
) -> None:
    tag = "sup" if shift == "raised" else "sub"
    style = f"<span style='vertical-align: {'super' if tag == 'sup' else 'sub'}'>{text}</span>"
    for inner in (f"<{tag}>{text}</{tag}>", f"<{tag}><b>{text}</b></{tag}>", style):
        (tmp_path / "a.html").write_text(f"<html><p>{before}{inner}{behind}</p>")
        assert read(tmp_path / "a.html").text == shown
    align = RAISED if shift == "raised" else LOWERED
    pieces = "".join(run(it, align) for it in text)  # in several runs, as programs write them
    body = f"<w:p>{run(before)}{pieces}{run(behind)}</w:p>"
    assert read(made.docx(tmp_path / "a.docx", body)).text == shown


def test_items_of_a_page_of_html_are_read_with_their_numbers(read: Read, tmp_path: Path) -> None:
    page = (
        "<html><ol start=3 type=a><li>The tenant<li value=7>pays</ol><ul><li>rent</ul>"
        "<ol style='list-style: none'><li>costs</ol><ol><li>One<ol type=I><li>Two</ol></ol>"
    )
    (tmp_path / "a.html").write_text(page)
    lines = read(tmp_path / "a.html").text.split("\n")
    assert [it for it in lines if it] == [
        "c. The tenant", "g. pays", "- rent", "- costs", "1. One", "I. Two",
    ]  # fmt: skip


def test_a_style_raises_words_as_well(read: Read, tmp_path: Path) -> None:
    styles = (
        f'<w:styles xmlns:w="{made.W}"><w:style w:type="character" w:styleId="Up"><w:rPr>{RAISED}'
        '</w:rPr></w:style><w:style w:type="character" w:styleId="Power"><w:basedOn w:val="Up"/>'
        "</w:style></w:styles>"
    )
    power = run("2", "<w:rStyle w:val='Power'/>")
    body = f"<w:p>{run('10')}{power}{run(' m')}</w:p>"
    assert read(made.docx(tmp_path / "a.docx", body, styles=styles)).text == "10² m"


def test_raised_figures_in_a_cell_are_read_as_such(read: Read, tmp_path: Path) -> None:
    book = Workbook()
    book.active["A1"] = CellRichText(
        "Area 10", TextBlock(InlineFont(vertAlign="superscript"), "2"), " m"
    )
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx").text == "Area 10² m"


def test_a_formula_that_is_a_picture_is_named(read: Read, tmp_path: Path) -> None:
    old = "<w:r><w:object><o:OLEObject xmlns:o='o' ProgID='Equation.3'/></w:object></w:r>"
    document = read(made.docx(tmp_path / "a.docx", f"<w:p>{run('Area')}{old}{run('m')}</w:p>"))
    assert document.text == "Area (formula, not read) m"
    assert document.unread == (Unread.FORMULAS,)


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        ("Area 10² m and H₂O", "found"),
        ("Area 10^2 m and H2O", "found"),
        ("Area 10^{2} m and H_2O", "found"),
        ("Area 102 m and H2O", "not_found"),
        ("Area 10 m and H2O", "not_found"),
        ("Area 10 2 m", "not_found"),
        ("m and H2O in a/b", "found"),
        ("m and H2O in ab", "not_found"),
        ("the base 101₂ is binary", "found"),
        ("the base 1012 is binary", "not_found"),
        ("index x_1 of x", "found"),
        ("index x1 of x", "found"),
        ("index x_2 of x", "not_found"),
        ("Area 10", "not_found"),
        ("file_2 is here", "found"),
        ("file2 is here", "not_found"),
    ],
)
def test_quotes_of_formulas_are_held_against_what_is_shown(
    read: Read, tmp_path: Path, quote: str, verdict: str
) -> None:
    formula = f"<m:oMath xmlns:m='{M}'>{over(t('a'), t('b'))}</m:oMath>"
    body = (
        f"<w:p>{run('Area 10')}{run('2', RAISED)}{run(' m and H')}{run('2', LOWERED)}"
        f"{run('O in ')}{formula}"
        f"{run(', the base 101')}{run('2', LOWERED)}{run(' is binary')}</w:p>"
        f"<w:p>{run('The index x')}{run('1', LOWERED)}{run(' of x, and file_2 is here')}</w:p>"
    )
    document = read(made.docx(tmp_path / "a.docx", body))
    check = CitationCheck([AttachedFile("a.docx", document)])
    (found,) = check.check(f"It says “{quote}”.")
    assert found.verdict == verdict
