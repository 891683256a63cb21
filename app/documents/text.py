"""Reads text, source code, CSV and Markdown, and tells the encoding of a text."""

from __future__ import annotations

import codecs
import re
from typing import Final

from app.core.documents import DocumentKind, LocationKind
from app.documents.collected import Collected, Outline
from app.documents.faults import Fault, Unreadable

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NO_TEXT: Final = re.compile("[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_SAMPLE: Final = 4096
_MOSTLY: Final = 0.7
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")


def decode(data: bytes, declared: str = "") -> str:
    """Decode a text: by its byte order mark, as UTF-8, as it is declared, or as Windows would.

    Raises Unreadable if it has characters that no text has.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    if encoding := _unmarked(data):
        return data.decode(encoding, errors="replace")
    text = _utf8(data)
    if text is None:
        text = _as_declared(data, declared) or "".join(map(_line, data.splitlines(keepends=True)))
    if _NO_TEXT.search(text):
        raise Unreadable(Fault.UNKNOWN)
    return text


def _unmarked(data: bytes) -> str:
    """Tell UTF-16 without a mark by its zeros: in Western text each second byte is one."""
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    many = _MOSTLY * len(sample) / 2
    if max(even, odd) <= many or min(even, odd):
        return ""
    encoding = "utf-16-le" if odd > many else "utf-16-be"
    text = data.decode(encoding, errors="replace")
    western = sum(map(str.isascii, text[:_SAMPLE])) > _MOSTLY * len(text[:_SAMPLE])
    return encoding if western and not _NO_TEXT.search(text) else ""


def _line(data: bytes) -> str:
    """Decode a line of a text that is not UTF-8 as a whole: files are put together from others."""
    text = _utf8(data)
    return data.decode("cp1252", errors="replace") if text is None else text


def _utf8(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _as_declared(data: bytes, declared: str) -> str:
    try:
        return data.decode(declared) if declared else ""
    except (LookupError, UnicodeError):
        return ""


def read_text(data: bytes, kind: DocumentKind, into: Collected) -> None:
    """Read a text as a whole; Markdown is divided at its headings. Raises Unreadable."""
    text = decode(data)
    if kind is not DocumentKind.MARKDOWN:
        into.add(LocationKind.WHOLE, text)
        return
    outline, fence = Outline(into), ""
    for line in text.splitlines(keepends=True):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        found = None if fence else _HEADING.match(line.rstrip("\n"))
        if found:
            outline.heading(found[1])
        else:
            outline.write(line)
    outline.end()
