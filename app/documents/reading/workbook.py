"""Reads XLSX: the cells of each sheet as displayed, one line per row."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final

from app.documents.reading.cell_formats import GENERAL, shown_number, shown_text
from app.documents.reading.collected import Collected
from app.documents.reading.faults import Fault, Unreadable
from app.documents.reading.package import Package, XmlReader
from app.documents.reading.slides import drawn_words
from app.documents.values.documents import LocationKind, Unread
from app.documents.values.shifted import Shift, in_line

XLSX_START: Final = "xl/workbook.xml"
_OPEN_FORMULA: Final = re.compile(rb"(?:</f>|<f[^>]{0,200}/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_MOST_OPEN: Final = 300
_OFF: Final = {"", "0", "false"}
_COMMENTS: Final = {"comments", "threadedComment"}
_MOST_COLUMNS: Final = 16_384
_MARGIN_CODE: Final = re.compile(
    r'&(?:(?P<plain>&)|(?P<name>A)|"[^"]*"|K[0-9A-Fa-f]{6}|K\d\d[+-]\d{3}|\d{1,3}|[A-Z])'
)
"""Codes in headers and footers: formatting, and values that only a printed page has."""

_SHIFTS: Final[Mapping[str | None, Shift]] = {"superscript": "raised", "subscript": "lowered"}


@dataclass
class _SheetLayout:
    """The properties of a sheet other than its cells' values.

    Attributes:
        rows: The numbers of hidden rows.
        columns: The numbers of hidden columns.
        margins: Headers and footers, by kind.
        shifted: Texts with superscripts or subscripts that are stored in the cells themselves, by
            cell name; openpyxl only knows those in the table of shared strings.
        drawn: The text of its shapes.
    """

    is_hidden: bool = False
    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    margins: dict[str, str] = field(default_factory=dict)
    shifted: dict[str, str] = field(default_factory=dict)
    drawn: str = ""


def read_xlsx(file: Path | bytes, most_unpacked: int, into: Collected) -> None:
    """Read a workbook. Raises Unreadable."""
    source = file if isinstance(file, Path) else io.BytesIO(file)
    package = Package(source, most_unpacked)
    package.check_xml()
    package.close()
    from openpyxl import load_workbook

    try:
        layouts = _layouts(source, most_unpacked, into.unread)
        book = load_workbook(
            source, read_only=True, data_only=True, keep_links=False, rich_text=True
        )
        formulas = (
            load_workbook(source, read_only=True, keep_links=False)
            if _has_open_formulas(source, most_unpacked)
            else None
        )
        try:
            for sheet in book.worksheets:
                sheet.reset_dimensions()
                layout = layouts.get(sheet.title, _SheetLayout())
                rows = _lines(_rows(sheet, formulas), layout, book.epoch)
                text = "\n".join((*rows, *_extra_text(layout, sheet.title)))
                if layout.is_hidden:
                    text = f"(hidden sheet)\n{text}"
                into.add(LocationKind.SHEET, text, sheet.title)
            if len(book.worksheets) < len(book.sheetnames):
                into.unread.add(Unread.CHARTS)
        finally:
            book.close()
            if formulas is not None:
                formulas.close()
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, SyntaxError) as error:
        # Errors that openpyxl and the XML parser raise on inconsistent files.
        raise Unreadable(Fault.DAMAGED) from error
    except (zipfile.BadZipFile, EOFError, OverflowError) as error:
        raise Unreadable(Fault.DAMAGED) from error


def _has_open_formulas(source: Path | BinaryIO, most_unpacked: int) -> bool:
    """Return whether there are formulas without results, which some programs do not compute."""
    package = Package(source, most_unpacked)
    sheets = (name for name in package.names if name.startswith("xl/worksheets/"))
    try:
        return any(package.has(sheet, _OPEN_FORMULA, _MOST_OPEN) for sheet in sheets)
    finally:
        package.close()


def _layouts(
    source: Path | BinaryIO, most_unpacked: int, unread: set[Unread]
) -> dict[str, _SheetLayout]:
    """Read what is hidden in each sheet, and what is beside its cells."""
    package = Package(source, most_unpacked)
    try:
        related = package.related(XLSX_START)
        found = {}
        for sheet in package.bare_tree(XLSX_START).iter("sheet"):
            layout = found[sheet.get("name", "")] = _SheetLayout(
                sheet.get("state", "visible") != "visible"
            )
            kind, name = related.get(sheet.get("id", ""), ("", ""))
            if kind != "worksheet" or name not in package:
                continue
            package.feed(name, _SheetReader(layout))
            for other, part in package.related(name).values():
                if other in _COMMENTS:
                    unread.add(Unread.COMMENTS)
                elif other == "drawing" and part in package:
                    layout.drawn = drawn_words(package, part, unread)
        return found
    finally:
        package.close()


class _SheetReader(XmlReader):
    """Reads which rows and columns are hidden, and the headers and footers."""

    def __init__(self, layout: _SheetLayout) -> None:
        self._layout = layout
        self._row = 0
        self._cell = self._margin = ""
        self._pieces: list[tuple[Shift, str]] | None = None
        self._shift: Shift = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        # Called for each of millions of cells, of which only the name matters.
        if tag.endswith("}c"):
            self._cell = attributes.get("r", "")
        elif not tag.endswith("}v"):
            self.opened(tag.rpartition("}")[2], attributes)

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None:
        match tag:
            case "row":
                self._row = _integer(attributes.get("r", ""), self._row + 1)
                if _is_hidden(attributes, "ht"):
                    self._layout.rows.add(self._row)
            case "col" if _is_hidden(attributes, "width"):
                first = _integer(attributes.get("min", ""), 0)
                last = min(_integer(attributes.get("max", ""), 0), _MOST_COLUMNS)
                self._layout.columns.update(range(first, last + 1))
            case "is":
                self._pieces = []
            case "r":
                self._shift = ""
            case "vertAlign":
                self._shift = _SHIFTS.get(attributes.get("val"), "")
            case _ if tag.endswith(("Header", "Footer")):
                self._margin = tag

    def closed(self, tag: str) -> None:
        if tag == self._margin:
            self._margin = ""
        elif tag == "is" and self._pieces is not None:
            if any(shift for shift, _ in self._pieces):
                self._layout.shifted[self._cell] = in_line(self._pieces)
            self._pieces = None

    def data(self, text: str) -> None:
        if self._margin:
            margins = self._layout.margins
            margins[self._margin] = margins.get(self._margin, "") + text
        elif self._pieces is not None:
            self._pieces.append((self._shift, text))


def _is_hidden(attributes: Mapping[str, str], size: str) -> bool:
    return attributes.get("hidden", "") not in _OFF or attributes.get(size) == "0"


def _integer(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else otherwise


def _extra_text(layout: _SheetLayout, title: str) -> Iterator[str]:
    """Yield the text beside the cells of a sheet: shapes, headers and footers."""
    if layout.drawn:
        yield f"\n(beside the cells)\n{layout.drawn}"
    for kind in ("Header", "Footer"):
        texts = dict.fromkeys(
            " ".join(_MARGIN_CODE.sub(lambda match: _of_margin(match, title), text).split())
            for name, text in layout.margins.items()
            if name.endswith(kind)
        )
        if joined := "\n".join(filter(None, texts)):
            yield f"\n({kind.lower()})\n{joined}"


def _of_margin(code: re.Match[str], title: str) -> str:
    if code["plain"]:
        return "&"
    return title if code["name"] else " "


def _rows(sheet: Any, formulas: Any) -> Iterator[Sequence[object]]:
    """Yield the rows of a sheet; a cell without a value is taken from the book of formulas."""
    if formulas is None:
        yield from sheet.rows
        return
    other = formulas[sheet.title]
    other.reset_dimensions()
    for row, same in zip(sheet.rows, other.rows, strict=True):
        yield [
            two if getattr(one, "value", None) is None else one
            for one, two in zip(row, same, strict=True)
        ]


def _lines(
    rows: Iterable[Sequence[object]], layout: _SheetLayout, epoch: datetime
) -> Iterator[str]:
    """Write each row as a line; hidden cells are at its end."""
    for number, row in enumerate(rows, 1):
        cells: list[str] = []
        hidden: list[str] = []
        for column, cell in enumerate(row, 1):
            text = _cell_text(cell, epoch)
            if layout.shifted:
                text = layout.shifted.get(f"{_letters(column)}{number}", text)
            if column not in layout.columns:
                cells.append(text)
            elif text:
                hidden.append(f"{_letters(column)}: {text}")
        line = "\t".join(cells).rstrip()
        if hidden:
            line += f"\t(hidden column {'; '.join(hidden)})"
        if number in layout.rows and line:
            line += "\t(hidden row)"
        if line:
            yield line


def _letters(column: int) -> str:
    name = ""
    while column:
        column, at = divmod(column - 1, 26)
        name = chr(ord("A") + at) + name
    return name


def _cell_text(cell: object, epoch: datetime) -> str:
    value = getattr(cell, "value", None)
    if value is None:
        return ""
    code = str(getattr(cell, "number_format", None) or GENERAL)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return shown_number(value, code, epoch.date())
    if isinstance(value, datetime | date | time | timedelta):
        return _shown_time(value, code, epoch)
    if isinstance(value, str | list):
        pieces = _pieces(value)
        return " ".join(shown_text(in_line(pieces), code).split())
    return " ".join(str(value).split())


def _shown_time(value: datetime | date | time | timedelta, code: str, epoch: datetime) -> str:
    from openpyxl.utils.datetime import to_excel

    number = to_excel(value, epoch)
    if not isinstance(number, int | float):
        return str(value)
    return " ".join(shown_number(number, code, epoch.date()).split())


def _pieces(value: str | list[Any]) -> list[tuple[Shift, str]]:
    """Split a cell's text into normal, superscript and subscript parts."""
    if isinstance(value, str):
        return [("", value)]
    found: list[tuple[Shift, str]] = []
    for part in value:  # openpyxl's rich text is a list
        font = getattr(part, "font", None)
        shift = _SHIFTS.get(getattr(font, "vertAlign", None), "")
        found.append((shift, str(getattr(part, "text", part))))
    return found
