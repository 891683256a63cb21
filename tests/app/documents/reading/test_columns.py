"""Reading text drawn across columns one column after the other, and tables row by row."""

from __future__ import annotations

from pathlib import Path

from app.documents.reading.page_drawing import PageDrawer
from app.documents.reading.reader import DocumentReader
from app.documents.values.documents import Document, TextSpan
from engines.cancel import CancelToken
from tests.support.made_documents import column, pdf_of

LEFT = [f"The left column goes on in its line {at}" for at in "abcdefgh"]
RIGHT = [f"and the right one says the number {at}" for at in "abcdefgh"]


def line(text: str, left: int, height: int, size: int = 11) -> bytes:
    return column([text], left, size).replace(b" 720 Td", b" %d Td" % height)


def across() -> bytes:
    """Return both columns, drawn line by line across the page."""
    rows = enumerate(zip(LEFT, RIGHT, strict=True))
    return b"".join(
        line(one, 60, 640 - 13 * at) + line(other, 320, 640 - 13 * at) for at, (one, other) in rows
    )


def read(path: Path, content: bytes) -> Document:
    return DocumentReader().read(pdf_of(path, [content]), CancelToken())


def lines(document: Document) -> list[str]:
    return [it.strip() for it in document.sections[0].text.split("\n")]


def test_columns_that_were_drawn_across_are_read_one_after_the_other(tmp_path: Path) -> None:
    assert lines(read(tmp_path / "a.pdf", across())) == [*LEFT, *RIGHT]


def test_what_goes_over_both_columns_stays_above_and_below_them(tmp_path: Path) -> None:
    title = "A title that is so long that it goes over the white between both of the columns"
    foot = "And below them there is a line that does so as well, from the left to the right"
    content = line(title, 60, 720) + across() + line(foot, 60, 400)
    assert lines(read(tmp_path / "a.pdf", content)) == [title, *LEFT, *RIGHT, foot]


def test_columns_that_were_drawn_one_after_the_other_stay_so(tmp_path: Path) -> None:
    content = column(LEFT, 60, 11) + column(RIGHT, 320, 11)
    assert lines(read(tmp_path / "a.pdf", content)) == [*LEFT, *RIGHT]


def test_a_column_that_ends_before_the_other_loses_nothing(tmp_path: Path) -> None:
    content = across() + line("One more line of the left column", 60, 640 - 13 * 8)
    last = "One more line of the left column"
    assert lines(read(tmp_path / "a.pdf", content)) == [*LEFT, last, *RIGHT]


def test_a_table_is_read_by_its_rows(tmp_path: Path) -> None:
    rows = [(f"Item {at}", f"{at * 12} euros") for at in range(1, 11)]
    content = b"".join(
        line(one, 60, 640 - 13 * at) + line(other, 320, 640 - 13 * at)
        for at, (one, other) in enumerate(rows)
    )
    text = " ".join(lines(read(tmp_path / "a.pdf", content)))
    assert " ".join(f"{one} {other}" for one, other in rows) == " ".join(text.split())


def test_words_in_such_columns_are_marked_where_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    section = read(path, across()).sections[0]
    start = section.text.index("line h")
    end = section.text.index("the right one says the number a")
    span = TextSpan(section.place, start, end)
    page = PageDrawer().draw(path, "a.pdf", section, 612, [span], CancelToken())
    assert page.marks is not None
    (one, other) = page.marks
    assert one[0] < 0.5 < other[0], "first in the left column, then in the right one"
    assert one[1] > other[1], "from its end to the beginning of the other"


def test_raised_numbers_are_read_as_such_and_marked(tmp_path: Path) -> None:
    """Otherwise 10² would be read as 102, or as two numbers."""
    content = (
        b"BT /F 12 Tf 72 700 Td (never above 10) Tj /F 7 Tf 4 Ts (2) Tj /F 12 Tf 0 Ts"
        b" ( kN, withdrawn.) Tj /F 7 Tf 4 Ts (13) Tj /F 12 Tf 0 Ts ( No 14.) Tj ET"
    )
    path = tmp_path / "a.pdf"
    section = read(path, content).sections[0]
    assert " ".join(section.text.split()) == "never above 10² kN, withdrawn.¹³ No 14."
    span = TextSpan(section.place, 0, len(section.text))
    page = PageDrawer().draw(path, "a.pdf", section, 612, [span], CancelToken())
    assert page.marks
