"""Reads XLSX: the cells of each sheet as they are shown, a row a line."""

from __future__ import annotations

import zipfile
from datetime import date, datetime, time
from pathlib import Path
from typing import Final

from app.core.documents import LocationKind
from app.documents.collected import Collected
from app.documents.faults import Fault, Unreadable
from app.documents.package import Package

XLSX_START: Final = "xl/workbook.xml"


def read_xlsx(path: Path, most_unpacked: int, into: Collected) -> None:
    """Read a workbook. Raises Unreadable."""
    package = Package(path, most_unpacked)
    package.check_xml()
    package.close()
    from openpyxl import load_workbook

    try:
        book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            for sheet in book.worksheets:
                sheet.reset_dimensions()
                rows = ("\t".join(_shown(cell) for cell in row).rstrip() for row in sheet.rows)
                into.add(LocationKind.SHEET, "\n".join(filter(None, rows)), sheet.title)
        finally:
            book.close()
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, SyntaxError) as error:
        # What openpyxl and the XML parser raise where a file contradicts itself.
        raise Unreadable(Fault.DAMAGED) from error
    except (zipfile.BadZipFile, EOFError) as error:
        raise Unreadable(Fault.DAMAGED) from error


def _shown(cell: object) -> str:
    value = getattr(cell, "value", None)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        if "%" in str(getattr(cell, "number_format", "")):
            return f"{round(value * 100, 6):.12g}%"
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, date | time):
        return value.isoformat().replace("T", " ")
    return " ".join(str(value).split())
