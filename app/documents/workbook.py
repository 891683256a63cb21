"""Reads XLSX: the cells of each sheet as they are shown, a row a line."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Final

from app.core.documents import LocationKind
from app.documents.collected import Collected
from app.documents.faults import Fault, Unreadable
from app.documents.package import Package

XLSX_START: Final = "xl/workbook.xml"
_OPEN_FORMULA: Final = re.compile(rb"(?:</f>|<f[^>]{0,200}/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_MOST_OPEN: Final = 300
_LITERAL: Final = re.compile(r'"[^"]*"|\\.')
"""A part of a number's format that is written as it stands: only a percent sign that is none of
these makes 5.5 of 0.055."""


def read_xlsx(path: Path, most_unpacked: int, into: Collected) -> None:
    """Read a workbook. Raises Unreadable."""
    package = Package(path, most_unpacked)
    package.check_xml()
    package.close()
    from openpyxl import load_workbook

    try:
        book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
        formulas = (
            load_workbook(path, read_only=True, keep_links=False)
            if _has_open_formulas(path, most_unpacked)
            else None
        )
        try:
            for sheet in book.worksheets:
                sheet.reset_dimensions()
                rows = ("\t".join(map(_shown, row)).rstrip() for row in _rows(sheet, formulas))
                into.add(LocationKind.SHEET, "\n".join(filter(None, rows)), sheet.title)
        finally:
            book.close()
            if formulas is not None:
                formulas.close()
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, SyntaxError) as error:
        # What openpyxl and the XML parser raise where a file contradicts itself.
        raise Unreadable(Fault.DAMAGED) from error
    except (zipfile.BadZipFile, EOFError) as error:
        raise Unreadable(Fault.DAMAGED) from error


def _has_open_formulas(path: Path, most_unpacked: int) -> bool:
    """Tell whether there are formulas without results, as programs write them that compute none."""
    package = Package(path, most_unpacked)
    sheets = (it for it in package.names if it.startswith("xl/worksheets/"))
    try:
        return any(package.has(it, _OPEN_FORMULA, _MOST_OPEN) for it in sheets)
    finally:
        package.close()


def _rows(sheet: Any, formulas: Any) -> Iterator[Sequence[object]]:
    """Yield the cells of a sheet; for those without a value that of the other book: a formula."""
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


def _shown(cell: object) -> str:
    value = getattr(cell, "value", None)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        if "%" in _LITERAL.sub("", str(getattr(cell, "number_format", ""))):
            return f"{round(value * 100, 6):.12g}%"
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, date | time):
        return value.isoformat().replace("T", " ")
    return " ".join(str(value).split())
