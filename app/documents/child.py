"""Reads documents in a process of its own, one or many: `reader` starts it, and holds the limits.

Writes a line for a file, one for each section, and a last one; or at any time one with a fault.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Final

from app.core.documents import Document, DocumentKind, document_values
from app.documents.collected import Collected
from app.documents.email import read_email
from app.documents.epub import EPUB_START, read_epub
from app.documents.faults import Fault, Unreadable
from app.documents.html import read_html
from app.documents.limits import Limits, limit_memory
from app.documents.office import (
    DOCX_START,
    PPTX_START,
    read_docx,
    read_pptx,
    read_scanned_docx,
)
from app.documents.package import Package
from app.documents.pdf import read_pdf
from app.documents.pictures import picture_format, read_picture
from app.documents.sounds import read_sound, sound_format
from app.documents.text import read_text
from app.documents.workbook import XLSX_START, read_xlsx
from engines.helper.child import Say, begin, begin_serving
from engines.regular import open_regular, read_regular

_BEGINNING: Final = 4096
_OLD_OFFICE: Final = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_OFFICE: Final = "EncryptedPackage".encode("utf-16-le")
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


def main() -> None:
    asked = json.loads(sys.argv[1])
    limits = Limits(**asked["limits"])
    if "path" in asked:
        say = begin()
        limit_memory(limits.memory_bytes)
        _answer(say, Path(asked["path"]), str(asked["name"]), limits)
        return
    say, orders = begin_serving()
    limit_memory(limits.memory_bytes)
    for order in orders:
        _answer(say, Path(os.fsdecode(bytes.fromhex(order["path"]))), str(order["name"]), limits)


def _answer(say: Say, path: Path, name: str, limits: Limits) -> None:
    """Read a file, and say what it holds or why it cannot be read."""
    into = Collected(limits.characters)
    try:
        before = _state(path)
        kind = _read(path, name, limits, into)
        with open_regular(path) as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
        if _state(path) != before:
            raise Unreadable(Fault.CHANGED)  # the hash would be that of another text
    except Unreadable as error:
        say({"fault": error.fault})
    except MemoryError:
        say({"fault": Fault.NO_MEMORY})
    except OSError:
        say({"fault": Fault.MISSING})
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RecursionError):
        say({"fault": Fault.DAMAGED})
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
        )
        say(document_values(read))
        for section in into.sections:
            say(asdict(section))
        say({"sections": len(into.sections)})


def _state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(path: Path, name: str, limits: Limits, into: Collected) -> DocumentKind:
    with open_regular(path) as file:
        beginning = file.read(_BEGINNING)
    if form := picture_format(beginning):
        into.media, into.width, into.height = read_picture(path, form, limits)
        return DocumentKind.IMAGE
    if sound := sound_format(beginning):
        into.media, into.seconds = read_sound(path, sound, limits)
        return DocumentKind.AUDIO
    kind = _kind(path, name, limits.unpacked_bytes)
    if kind is DocumentKind.PDF:
        read_pdf(path, limits, into)
    elif kind is DocumentKind.XLSX:
        read_xlsx(path, limits.unpacked_bytes, into)
    elif reader := _OF_PACKAGE.get(kind):
        package = Package(path, limits.unpacked_bytes)
        reader(package, into)
        if kind is DocumentKind.DOCX and not any(it.text.strip() for it in into.sections):
            read_scanned_docx(package, limits, into)
        package.close()
    else:
        # Four bytes a character at most; markup takes more than the text in it.
        if path.stat().st_size > 4 * limits.characters:
            raise Unreadable(Fault.TOO_LONG)
        data = read_regular(path)
        if kind is DocumentKind.HTML:
            read_html(data, into)
        elif kind is DocumentKind.EMAIL:
            read_email(data, into)
        else:
            read_text(data, kind, into)
    return kind


_OF_PACKAGE: Final[dict[DocumentKind, Callable[[Package, Collected], None]]] = {
    DocumentKind.DOCX: read_docx,
    DocumentKind.PPTX: read_pptx,
    DocumentKind.EPUB: read_epub,
}


def _kind(path: Path, name: str, most_unpacked: int) -> DocumentKind:
    """Tell a file's kind by how it begins, else by the ending of its name. Raises Unreadable."""
    with open_regular(path) as file:
        beginning = file.read(_BEGINNING)
        if beginning.startswith(_OLD_OFFICE):
            locked = _ENCRYPTED_OFFICE in beginning + file.read(1 << 20) + _end_of(path)
            raise Unreadable(Fault.LOCKED if locked else Fault.OLD_OFFICE)
    if b"%PDF-" in beginning[:1024]:
        return DocumentKind.PDF
    if beginning.startswith(b"PK\x03\x04"):
        package = Package(path, most_unpacked)
        package.close()
        for part, kind in _BY_PART.items():
            if part in package:
                return kind
        raise Unreadable(Fault.UNKNOWN)
    kind = _BY_ENDING.get(Path(name).suffix.lower(), DocumentKind.TEXT)
    if kind is DocumentKind.TEXT and _HTML.match(beginning):
        return DocumentKind.HTML
    return kind


def _end_of(path: Path) -> bytes:
    """Return the last part of a file; the directory of old Office files stands anywhere."""
    with open_regular(path) as file:
        file.seek(max(0, path.stat().st_size - (1 << 20)), os.SEEK_SET)
        return file.read()


if __name__ == "__main__":
    main()
