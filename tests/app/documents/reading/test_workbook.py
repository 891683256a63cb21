"""Reading an XLSX: numbers in their formats, and hidden parts marked as hidden."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart
from openpyxl.comments import Comment

from app.documents.values.documents import Unread
from tests.app.documents.reading.conftest import Read

SHOWN: list[tuple[object, str, str]] = [
    (1234, "00000", "01234"),
    (1234.5, '#,##0.00 "€"', "1,234.50 €"),
    (1234.5, "#,##0.00\\ [$€-407]", "1,234.50 €"),
    (1234.5, "[$$-409]#,##0.00", "$1,234.50"),
    (-1234.5, '"$"#,##0.00_);[Red]("$"#,##0.00)', "($1,234.50)"),
    (-1234.5, "#,##0.00;[Red]-#,##0.00", "-1,234.50"),
    (0, '#,##0;-#,##0;"–"', "–"),
    (0.125, "0.0%", "12.5%"),
    (0.125, "0 %", "13 %"),
    (0.125, "# ?/?", "1/8"),
    (2.5, "# ??/??", "2 1/2"),
    (0.375, "# ?/8", "3/8"),
    (12345.678, "0.00E+00", "1.23E+04"),
    (12345.678, "##0.0E+0", "12.3E+3"),
    (1234567, '#,##0.0,,"M"', "1.2M"),
    (123456789, "000-00-0000", "123-45-6789"),
    (15, '0" kg"', "15 kg"),
    (7, '"Nr. "000', "Nr. 007"),
    (150, '[>=100]"big "0;0', "big 150"),
    (12345678901234570, "General", "12345678901234570"),
    (12345678901234570, "0", "12345678901234570"),
    (1e21, "General", "1E+21"),
    (0.1 + 0.2, "General", "0.3"),
    (1234.5, "General", "1234.5"),
    (10 / 3, "General", "3.333333333"),
    (-0.001, "0.00", "0.00"),
    (date(2026, 3, 1), "yyyy-mm-dd", "2026-03-01"),
    (date(2026, 3, 1), "dd.mm.yyyy", "01.03.2026"),
    (date(2026, 3, 1), "mm-dd-yy", "2026-03-01"),
    (date(2026, 3, 1), "[$-407]d. mmmm yyyy", "1. März 2026"),
    (date(2026, 3, 1), "dddd, mmm d", "Sunday, Mar 1"),
    (datetime(2026, 3, 1, 14, 5), "d/m/yy h:mm AM/PM", "1/3/26 2:05 PM"),  # noqa: DTZ001
    (datetime(2026, 3, 1, 14, 5, 9), "hh:mm:ss", "14:05:09"),  # noqa: DTZ001
    (time(8, 30), "h:mm", "8:30"),
    (timedelta(hours=49, minutes=30), "[h]:mm", "49:30"),
    (timedelta(minutes=90, seconds=5), "[mm]:ss", "90:05"),
    (True, "General", "TRUE"),
    ("01234", "General", "01234"),
    ("Ulm", '"Ort: "@', "Ort: Ulm"),
]


def test_cells_are_read_in_their_formats(read: Read, tmp_path: Path) -> None:
    book = Workbook()
    for row, (value, form, _) in enumerate(SHOWN, 1):
        cell = book.active.cell(row, 1, value)
        cell.number_format = form
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx").text.split("\n") == [shown for _, _, shown in SHOWN]


NONSENSE = (
    "", "0" * 255, "[>][<=x]0", "#/#/#", "E+", "[h", '"', "\\", "0.0.0", "[$-ZZZ]0", "?/0", "/0",
    "y" * 99,
)  # fmt: skip


@pytest.mark.parametrize("form", NONSENSE)
def test_a_format_that_makes_no_sense_harms_nothing(read: Read, tmp_path: Path, form: str) -> None:
    book = Workbook()
    for value in (0, -1, 1.5, 1e300, 45000, "x"):
        book.active.append([value])
        book.active.cell(book.active.max_row, 1).number_format = form
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx").text.endswith("x")


def test_what_is_hidden_is_said_to_be(read: Read, tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    for row in (["Item", "Cost", "Price"], ["Desk", 5, 9], ["Lamp", 1, 2]):
        sheet.append(row)
    sheet.column_dimensions["B"].hidden = True
    sheet.row_dimensions[3].hidden = True
    for name, state in (("Old", "hidden"), ("Keys", "veryHidden")):
        other = book.create_sheet(name)
        other["A1"] = "secret"
        other.sheet_state = state
    book.save(tmp_path / "a.xlsx")
    document = read(tmp_path / "a.xlsx")
    assert document.sections[0].text.split("\n") == [
        "Item\tPrice\t(hidden column B: Cost)",
        "Desk\t9\t(hidden column B: 5)",
        "Lamp\t2\t(hidden column B: 1)\t(hidden row)",
    ]
    assert [it.text for it in document.sections[1:]] == ["(hidden sheet)\nsecret"] * 2
    assert [it.place.title for it in document.sections[1:]] == ["Old", "Keys"]


def test_headers_footers_charts_and_comments_are_read_or_named(read: Read, tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.title = "Rent"
    sheet["A1"] = 5
    sheet["A1"].comment = Comment("Too high", "Ana")
    sheet.oddHeader.left.text = "ACME & Sons"
    sheet.oddHeader.left.size = 12
    sheet.oddFooter.center.text = "&A, confidential, page &P"
    chart = BarChart()
    sheet.add_chart(chart, "C1")
    book.save(tmp_path / "a.xlsx")
    document = read(tmp_path / "a.xlsx")
    assert document.text.split("\n") == [
        "5", "", "(beside the cells)", "(chart, not read)", "", "(header)", "ACME & Sons", "",
        "(footer)", "Rent, confidential, page",
    ]  # fmt: skip
    assert document.unread == (Unread.CHARTS, Unread.COMMENTS)


def test_dates_of_a_mac_are_counted_from_1904(read: Read, tmp_path: Path) -> None:
    from openpyxl.utils.datetime import CALENDAR_MAC_1904

    book = Workbook()
    book.epoch = CALENDAR_MAC_1904
    book.active["A1"] = date(2026, 3, 1)
    book.active["A1"].number_format = "dd.mm.yyyy"
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx").text == "01.03.2026"
