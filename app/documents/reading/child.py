"""The process that reads documents, one or many; `reader` starts it and enforces the limits.

It writes one line for a file, one for each section, and a last one; or, at any time, one with a
fault.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO, Final

from app.documents.reading.collected import Collected
from app.documents.reading.email import ReadAttached, read_email
from app.documents.reading.epub import EPUB_START, read_epub
from app.documents.reading.faults import Fault, Unreadable
from app.documents.reading.html import read_html
from app.documents.reading.limits import Limits, limit_memory
from app.documents.reading.package import Package
from app.documents.reading.pdf import read_pdf
from app.documents.reading.pictures import picture_format, read_picture
from app.documents.reading.rtf import RTF_START, read_rtf
from app.documents.reading.slides import PPTX_START, read_pptx
from app.documents.reading.sounds import read_sound, sound_format
from app.documents.reading.text import read_text
from app.documents.reading.word import DOCX_START, read_docx, read_scanned_docx
from app.documents.reading.workbook import XLSX_START, read_xlsx
from app.documents.values.documents import Document, DocumentKind, Unread, document_values
from engines.helper.child import WriteLine, begin, begin_serving
from engines.regular import open_regular

_BEGINNING: Final = 4096
_OLD_OFFICE: Final = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_OFFICE: Final = "EncryptedPackage".encode("utf-16-le")
_MESSAGE: Final = "__properties_version1.0".encode("utf-16-le")
_OFFICE_PARTS: Final = tuple(
    name.encode("utf-16-le") for name in ("WordDocument", "Workbook", "Book", "PowerPoint Document")
)
_OLD_ENDINGS: Final = {".doc", ".dot", ".xls", ".xlt", ".ppt", ".pps", ".pot"}
_BY_ENDING: Final = {
    ".md": DocumentKind.MARKDOWN,
    ".markdown": DocumentKind.MARKDOWN,
    ".html": DocumentKind.HTML,
    ".htm": DocumentKind.HTML,
    ".xhtml": DocumentKind.HTML,
    ".csv": DocumentKind.CSV,
    ".tsv": DocumentKind.CSV,
    ".eml": DocumentKind.EMAIL,
    ".mbox": DocumentKind.EMAIL,
}
_BY_PART: Final = {
    DOCX_START: DocumentKind.DOCX,
    XLSX_START: DocumentKind.XLSX,
    PPTX_START: DocumentKind.PPTX,
    EPUB_START: DocumentKind.EPUB,
}
_HTML: Final = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype html|<html)", re.IGNORECASE)


_DAMAGED: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RecursionError
)  # fmt: skip
"""Errors that the libraries raise when they unpack and parse a damaged file."""


def main() -> None:
    """Read the file in the arguments, or serve orders from standard input."""
    request = json.loads(sys.argv[1])
    limits = Limits(**request["limits"])
    if "path" in request:
        write = begin()
        limit_memory(limits.memory_bytes)
        _answer(write, Path(request["path"]), str(request["name"]), limits)
        return
    write, orders = begin_serving()
    limit_memory(limits.memory_bytes)
    for order in orders:
        _answer(write, Path(os.fsdecode(bytes.fromhex(order["path"]))), str(order["name"]), limits)


def _answer(write: WriteLine, path: Path, name: str, limits: Limits) -> None:
    """Read a file, and write its content, or why it cannot be read."""
    into = Collected(limits.characters)
    try:
        before = _state(path)
        kind = _read(path, name, limits, into)
        with open_regular(path) as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
        if _state(path) != before:
            raise Unreadable(Fault.CHANGED)  # the hash would not match the text
    except Unreadable as error:
        write({"fault": error.fault})
    except MemoryError:
        write({"fault": Fault.NO_MEMORY})
    except OSError:
        write({"fault": Fault.MISSING})
    except _DAMAGED:
        write({"fault": Fault.DAMAGED})
    else:
        read = Document(
            kind,
            sha256,
            size,
            (),
            tuple(into.scanned),
            into.media,
            into.width,
            into.height,
            into.seconds,
            tuple(into.pages),
            tuple(reason for reason in Unread if reason in into.unread),
        )
        write(document_values(read))
        for section in into.sections:
            write(asdict(section))
        write({"sections": len(into.sections)})


def _state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(source: Path | bytes, name: str, limits: Limits, into: Collected) -> DocumentKind:
    with _opened(source) as file:
        beginning = file.read(_BEGINNING)
    if isinstance(source, Path):  # attachments of e-mails are not shown to models
        if form := picture_format(beginning):
            into.media, into.width, into.height = read_picture(source, form, limits)
            return DocumentKind.IMAGE
        if sound := sound_format(beginning):
            into.media, into.seconds = read_sound(source, sound, limits)
            return DocumentKind.AUDIO
    elif picture_format(beginning) or sound_format(beginning):
        raise Unreadable(Fault.UNKNOWN)
    kind = _kind(source, name, limits.unpacked_bytes)
    if kind is DocumentKind.PDF:
        read_pdf(source, limits, into)
    elif kind is DocumentKind.XLSX:
        read_xlsx(source, limits.unpacked_bytes, into)
    elif reader := _OF_PACKAGE.get(kind):
        with _opened(source) as file:
            package = Package(file, limits.unpacked_bytes)
            reader(package, into)
            if kind is DocumentKind.DOCX and not any(
                section.text.strip() for section in into.sections
            ):
                read_scanned_docx(package, limits, into)
            package.close()
    else:
        _read_text(source, kind, limits, into)
    return kind


def _read_text(source: Path | bytes, kind: DocumentKind, limits: Limits, into: Collected) -> None:
    """Read a file that is not an archive. Raises Unreadable."""
    with _opened(source) as file:
        size = file.seek(0, os.SEEK_END)
        # A character has at most four bytes; markup takes more than the text in it.
        if size > limits.characters * _MOST_BYTES.get(kind, 4):
            raise Unreadable(Fault.TOO_LONG)
        file.seek(0)
        data = file.read()
    if kind is DocumentKind.HTML:
        read_html(data, into)
    elif kind is DocumentKind.RTF:
        read_rtf(data, into)
    elif kind is DocumentKind.EMAIL:
        read_email(data, into, _reader_of_attached(limits))
    else:
        read_text(data, kind, into)


_MOST_BYTES: Final = {DocumentKind.RTF: 20, DocumentKind.EMAIL: 20}
"""Maximum bytes per character of text, for files that can contain pictures or other files."""


def _reader_of_attached(limits: Limits, depth: int = 1) -> ReadAttached:
    """Return a reader for the attachments of e-mails, including attached e-mails."""

    def read(data: bytes, name: str, most: int) -> Collected:
        into = Collected(most)
        try:
            kind = _kind(data, name, limits.unpacked_bytes)
            if kind is not DocumentKind.EMAIL:
                _read(data, name, replace(limits, pages=0), into)
            elif depth >= _MOST_DEEP:
                raise Unreadable(Fault.TOO_LONG)
            else:
                read_email(data, into, _reader_of_attached(limits, depth + 1))
        except _DAMAGED as error:
            raise Unreadable(Fault.DAMAGED) from error
        return into

    return read


_MOST_DEEP: Final = 3
"""Maximum nesting of e-mails in e-mails."""


def _opened(source: Path | bytes) -> BinaryIO:
    return open_regular(source) if isinstance(source, Path) else io.BytesIO(source)


_OF_PACKAGE: Final[dict[DocumentKind, Callable[[Package, Collected], None]]] = {
    DocumentKind.DOCX: read_docx,
    DocumentKind.PPTX: read_pptx,
    DocumentKind.EPUB: read_epub,
}


def _kind(source: Path | bytes, name: str, most_unpacked: int) -> DocumentKind:
    """Return a file's kind by its first bytes, else by its extension. Raises Unreadable."""
    with _opened(source) as file:
        beginning = file.read(_BEGINNING)
        if beginning.startswith(_OLD_OFFICE):
            raise Unreadable(_fault_of_compound(file, beginning, name))
        if _is_model(beginning):
            raise Unreadable(Fault.MODEL)
        if beginning.startswith(b"PK\x03\x04"):
            package = Package(file, most_unpacked)
            package.close()
            for part, kind in _BY_PART.items():
                if part in package:
                    return kind
            raise Unreadable(Fault.UNKNOWN)
    if b"%PDF-" in beginning[:1024]:
        return DocumentKind.PDF
    if beginning.lstrip().startswith(RTF_START):
        return DocumentKind.RTF
    kind = _BY_ENDING.get(Path(name).suffix.lower(), DocumentKind.TEXT)
    if kind is DocumentKind.TEXT and _HTML.match(beginning):
        return DocumentKind.HTML
    return kind


def _is_model(beginning: bytes) -> bool:
    """Return whether a file begins like GGUF, or like safetensors: a length, then its JSON."""
    is_gguf = beginning.startswith(b"GGUF") and b"\0" in beginning[4:8]
    return is_gguf or (beginning[8:9] == b"{" and not any(beginning[4:8]))


def _fault_of_compound(file: BinaryIO, beginning: bytes, name: str) -> Fault:
    """Return the fault for a compound file, which Office before 2007, Outlook and others write."""
    known = beginning + file.read(1 << 20)
    file.seek(max(0, file.seek(0, os.SEEK_END) - (1 << 20)))
    known += file.read()  # its directory can be anywhere
    if _ENCRYPTED_OFFICE in known:
        return Fault.LOCKED
    ending = Path(name).suffix.lower()
    if _MESSAGE in known or ending in {".msg", ".oft"}:
        return Fault.MESSAGE_FILE
    is_office = ending in _OLD_ENDINGS or any(part in known for part in _OFFICE_PARTS)
    return Fault.OLD_OFFICE if is_office else Fault.UNKNOWN


if __name__ == "__main__":
    main()
