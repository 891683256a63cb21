"""Reading a PPTX: hidden slides, notes and footers are told apart."""

from __future__ import annotations

from pathlib import Path

from app.documents.values.documents import Unread
from tests.app.documents.reading.conftest import Read
from tests.support import made_documents as made


def one_slide(path: Path, shapes: str, show: str = "", notes: str = "") -> Path:
    made.pptx(path, [("", "", notes)])
    slide = f'<p:sld xmlns:p="{made.P}" xmlns:a="{made.A}" {show}>{shapes}</p:sld>'
    return made.replaced(path, "ppt/slides/slide1.xml", slide)


def paragraph(text: str, properties: str = "") -> str:
    return f"<a:p><a:pPr {properties}/><a:r><a:t>{text}</a:t></a:r></a:p>"


def test_a_hidden_slide_is_said_to_be(read: Read, tmp_path: Path) -> None:
    shape = f"<p:sp>{paragraph('Old prices')}</p:sp>"
    path = one_slide(tmp_path / "a.pptx", shape, 'show="0"', notes="do not show")
    assert read(path).text == "(hidden slide)\nOld prices\n\n(notes)\ndo not show"


def test_numbers_of_lists_are_read(read: Read, tmp_path: Path) -> None:
    def numbered(text: str, level: int, form: str) -> str:
        start = paragraph(text, f'lvl="{level}"')
        return start.replace("/><a:r>", f'><a:buAutoNum type="{form}"/></a:pPr><a:r>', 1)

    shape = (
        numbered("Rent", 0, "arabicPeriod") + numbered("cold", 1, "alphaLcParenR")
        + numbered("warm", 1, "alphaLcParenR") + numbered("Deposit", 0, "arabicPeriod")
        + numbered("cash", 1, "alphaLcParenR") + paragraph("words")
        + numbered("again", 0, "romanUcPeriod")
    )  # fmt: skip
    path = one_slide(tmp_path / "a.pptx", f"<p:sp>{shape}</p:sp>")
    assert read(path).text.split("\n") == [
        "1. Rent", "a) cold", "b) warm", "2. Deposit", "a) cash", "words", "I. again",
    ]  # fmt: skip


def test_a_run_that_does_not_say_how_far_it_is_raised_stands_in_the_line(
    read: Read, tmp_path: Path
) -> None:
    runs = "".join(
        f'<a:r><a:rPr baseline="{it}"/><a:t>2</a:t></a:r>' for it in ("", "0", "30000", "-25%")
    )
    path = one_slide(tmp_path / "a.pptx", f"<p:sp><a:p>{runs}</a:p></p:sp>")
    assert read(path).text == "22²₂"


def test_footers_stand_behind_the_slide(read: Read, tmp_path: Path) -> None:
    shapes = (
        "<p:sp><p:ph type='ftr'/>" + paragraph("ACME, confidential") + "</p:sp>"
        "<p:sp><p:ph type='sldNum'/>" + paragraph("7") + "</p:sp>"
        "<p:sp><p:ph type='title'/>" + paragraph("Prices") + "</p:sp>"
    )
    document = read(one_slide(tmp_path / "a.pptx", shapes))
    assert document.text == "Prices\n\n(footer)\nACME, confidential"
    assert document.sections[0].place.title == "Prices"


def test_what_is_drawn_and_not_read_is_named(read: Read, tmp_path: Path) -> None:
    shapes = (
        "<p:graphicFrame><c:chart xmlns:c='c'/></p:graphicFrame>"
        "<p:graphicFrame><dgm:relIds xmlns:dgm='d'/></p:graphicFrame>"
    )
    document = read(one_slide(tmp_path / "a.pptx", shapes))
    assert document.text == "(chart, not read)\n(diagram, not read)"
    assert document.unread == (Unread.CHARTS, Unread.DIAGRAMS)


def test_a_slide_that_is_a_picture_does_not_count_as_read(read: Read, tmp_path: Path) -> None:
    picture = "<p:pic><a:blip/><p:spPr><a:ext cx='9144000' cy='6858000'/></p:spPr></p:pic>"
    document = read(one_slide(tmp_path / "a.pptx", picture))
    assert (document.scanned, document.reading) == ((1,), "scan")
