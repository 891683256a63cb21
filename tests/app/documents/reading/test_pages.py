"""Drawing pages in another process, with marks at the places of the words."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.base.errors import DocumentNotRead
from app.documents.citations.values import CitationCheck
from app.documents.reading.limits import Limits
from app.documents.reading.page_drawing import PageDrawer
from app.documents.reading.reader import DocumentReader
from app.documents.values.documents import AttachedFile, Document, Section, TextSpan
from app.documents.values.pages import DrawnPage, Rectangle, text_parts
from engines.cancel import CancelToken
from engines.errors import Cancelled
from tests.support.attached import attached
from tests.support.made_documents import locked_pdf, pdf

LINES = ("The kiln was lit", "on 14 May in Ulm,", "and the flue smoked.")
WIDTH, HEIGHT = 612, 792
LEFT, TOP, SIZE, LEADING = 72, 72, 12, 14


def read(path: Path) -> Document:
    return DocumentReader().read(path, CancelToken())


def draw(
    path: Path, section: Section, spans: Sequence[TextSpan] = (), width: int = WIDTH
) -> DrawnPage:
    return PageDrawer().draw(path, path.name, section, width, spans, CancelToken())


def span_of(section: Section, words: str) -> TextSpan:
    start = section.text.index(words)
    return TextSpan(section.place, start, start + len(words))


def dark(page: DrawnPage, box: Rectangle) -> int:
    """Return the number of dark pixels in a part of a page."""
    left, top, right, bottom = box
    across = range(round(left * page.width), round(right * page.width))
    down = range(round(top * page.height), round(bottom * page.height))
    return sum(page.pixels[y * page.stride + 3 * x] < 128 for y in down for x in across)


def test_a_page_is_drawn_as_wide_as_it_is_asked_for(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [LINES])
    page = draw(path, read(path).sections[0], width=900)
    assert page.width == pytest.approx(900, abs=1)
    assert page.height == pytest.approx(900 * HEIGHT / WIDTH, abs=1)
    assert page.marks == ()
    assert dark(page, (0, 0, 1, 0.5)) > 300
    assert dark(page, (0, 0.5, 1, 1)) == 0


def test_a_mark_covers_its_words_and_nothing_else(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [LINES])
    section = read(path).sections[0]
    page = draw(path, section, [span_of(section, "14 May")])
    assert page.marks is not None
    ((left, top, right, bottom),) = page.marks
    baseline = TOP + LEADING
    assert top * HEIGHT < baseline - 7 < bottom * HEIGHT
    assert bottom * HEIGHT - top * HEIGHT < 1.6 * SIZE
    assert left * WIDTH == pytest.approx(LEFT + 16.7, abs=1)  # after “on ” in Helvetica
    assert right * WIDTH == pytest.approx(LEFT + 57.4, abs=2)
    assert dark(page, page.marks[0]) > 50


def test_a_place_over_several_lines_has_a_mark_in_each(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [LINES])
    section = read(path).sections[0]
    start = section.text.index("lit")
    end = section.text.index("smoked")
    page = draw(path, section, [TextSpan(section.place, start, end)])
    assert page.marks is not None
    assert len(page.marks) == 3
    assert [round(top * HEIGHT) for _, top, _, _ in page.marks] == sorted(
        round(top * HEIGHT) for _, top, _, _ in page.marks
    )


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_a_page_that_is_turned_and_cropped_is_marked_where_it_shows(
    tmp_path: Path, turned: int
) -> None:
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import RectangleObject

    writer = PdfWriter()
    page = PdfReader(pdf(tmp_path / "a.pdf", [LINES])).pages[0]
    page.cropbox = RectangleObject((50, 400, 500, 760))
    page.rotate(turned)
    writer.add_page(page)
    path = tmp_path / "b.pdf"
    writer.write(path)
    section = read(path).sections[0]
    drawn = draw(path, section, [span_of(section, "14 May")], width=1200)
    assert drawn.marks is not None
    (mark,) = drawn.marks
    whole = draw(path, section, [span_of(section, section.text.split("\n")[1].strip())], width=1200)
    assert whole.marks is not None
    left, top, right, bottom = whole.marks[0]
    assert left - 0.01 <= mark[0] < mark[2] <= right + 0.01
    assert top - 0.01 <= mark[1] < mark[3] <= bottom + 0.01
    assert dark(drawn, mark) > 50


def test_a_word_that_is_divided_is_marked_in_both_lines(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [("The well-", "known firm may not enter.")])
    document = read(path)
    (found,) = CitationCheck([AttachedFile("a.pdf", document)]).check("“well-known firm”")
    assert found.verdict == "found"
    page = draw(path, document.sections[0], found.spans)
    assert page.marks is not None
    assert len(page.marks) == 2


def test_a_page_whose_text_is_not_the_one_that_was_read_is_not_marked(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [LINES])
    section = read(path).sections[0]
    other = Section(section.place, section.text.replace("14", "15"))
    page = draw(path, other, [span_of(other, "15 May")])
    assert page.marks is None
    assert dark(page, (0, 0, 1, 0.5)) > 100


def test_only_the_words_that_were_found_are_marked_where_they_stand_twice(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [("one fish", "two fish", "red fish")])
    section = read(path).sections[0]
    start = section.text.index("fish", section.text.index("two"))
    page = draw(path, section, [TextSpan(section.place, start, start + 4)])
    assert page.marks is not None
    ((_, top, _, bottom),) = page.marks
    assert top * HEIGHT < TOP + LEADING - 4 < bottom * HEIGHT


def test_a_page_has_no_more_pixels_than_it_may(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [LINES])
    page = draw(path, read(path).sections[0], width=50_000)
    assert page.width * page.height <= 1.01 * Limits().view_pixels
    assert len(page.pixels) == page.stride * page.height


def test_a_file_that_cannot_be_drawn_ends_with_a_sentence(tmp_path: Path) -> None:
    section = attached("a", "one", "two", "three").document.sections[2]
    path = pdf(tmp_path / "a.pdf", [LINES])
    for bad in (path, tmp_path / "none.pdf", locked_pdf(tmp_path / "b.pdf", [LINES])):
        with pytest.raises(DocumentNotRead, match="A page of"):
            draw(bad, section)
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.4\n" + bytes(range(256)) * 40)
    with pytest.raises(DocumentNotRead, match="A page of"):
        draw(tmp_path / "c.pdf", section)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[]",
        "{}",
        '{"width": 1e9, "height": 1, "stride": 3e9, "pixels": "", "marks": []}',
        '{"width": 2, "height": 2, "stride": 6, "pixels": "AAAA", "marks": []}',
        '{"fault": "nonsense"}',
    ],
)
def test_whatever_the_process_says_harms_nobody(tmp_path: Path, said: str) -> None:
    path = pdf(tmp_path / "a.pdf", [LINES])
    drawer = PageDrawer(command=(sys.executable, "-c", f"print('''{said}''')"))
    with pytest.raises(DocumentNotRead, match="crashed on it"):
        drawer.draw(path, "a.pdf", read(path).sections[0], 100, (), CancelToken())


def test_a_process_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [LINES])
    drawer = PageDrawer(Limits(seconds=0.5), (sys.executable, "-c", "while True: pass"))
    with pytest.raises(DocumentNotRead, match="was stopped"):
        drawer.draw(path, "a.pdf", read(path).sections[0], 100, (), CancelToken())


def test_drawing_can_be_cancelled(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", [LINES])
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        PageDrawer().draw(path, "a.pdf", read(path).sections[0], 100, (), token)


def test_a_long_text_is_shown_in_parts_at_ends_of_lines() -> None:
    text = "A line of some words.\n" * 4000
    document = attached("a.txt", text).document
    parts = list(text_parts(document))
    assert "".join(text[it.start : it.end] for it in parts) == text
    assert all(text[it.end - 1] == "\n" for it in parts)
    assert len(parts) > 3
    assert [it.place.number for it in text_parts(attached("b", "x", "", "y").document)] == [1, 2, 3]
