"""What is read from a file that somebody attaches: its text, and where each part of it stands."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

BETWEEN: Final = "\n\n"
"""What stands between two sections in the text of a document."""


class DocumentKind(StrEnum):
    """The kinds of files whose text can be read."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    CSV = "csv"
    PDF = "pdf"
    DOCX = "docx"
    XLSX = "xlsx"
    PPTX = "pptx"
    EPUB = "epub"
    EMAIL = "email"


class LocationKind(StrEnum):
    """The kinds of places that a document is divided into."""

    WHOLE = "whole"  # one text without parts
    HEADING = "heading"
    PAGE = "page"
    SLIDE = "slide"
    SHEET = "sheet"
    CHAPTER = "chapter"
    MESSAGE = "message"


@dataclass(frozen=True)
class Location:
    """A place in a document.

    number: counts the places of a document, from 1.
    title: a heading, the name of a sheet, the subject of a message; empty where there is none.
    """

    kind: LocationKind
    number: int
    title: str = ""


@dataclass(frozen=True)
class Section:
    """The text that stands at one place of a document; it may be empty, as that of a blank page."""

    place: Location
    text: str


@dataclass(frozen=True)
class TextSpan:
    """A part of a document: its place, and the characters `start` to `end` of the section there."""

    place: Location
    start: int
    end: int


@dataclass(frozen=True)
class Passage:
    """A part of a document, with its words."""

    span: TextSpan
    text: str


@dataclass(frozen=True)
class Document:
    """A file that was read.

    sha256: the hash of the file, in hexadecimal.
    size: the file's length in bytes.
    scanned: the numbers of the pages that are pictures without text.
    """

    kind: DocumentKind
    sha256: str
    size: int
    sections: tuple[Section, ...]
    scanned: tuple[int, ...] = ()

    @cached_property
    def text(self) -> str:
        """The text of all sections, in their order."""
        return BETWEEN.join(section.text for section in self.sections)

    @property
    def empty(self) -> bool:
        return not any(section.text.strip() for section in self.sections)

    @property
    def is_scan(self) -> bool:
        """Whether it has no text, because its pages are pictures."""
        return self.empty and bool(self.scanned)

    @cached_property
    def _starts(self) -> list[int]:
        starts, start = [], 0
        for section in self.sections:
            starts.append(start)
            start += len(section.text) + len(BETWEEN)
        return starts

    def spans(self, start: int, end: int) -> Iterator[TextSpan]:
        """Find the places of the characters `start` to `end` of `text`."""
        first = max(0, bisect.bisect_right(self._starts, start) - 1)
        for begin, section in zip(self._starts[first:], self.sections[first:], strict=True):
            if begin >= end:
                return
            here, there = max(start - begin, 0), min(end - begin, len(section.text))
            if here < there:
                yield TextSpan(section.place, here, there)


def passages(document: Document, length: int) -> Iterator[Passage]:
    """Divide a document into passages of about `length` characters, none across two places.

    A passage ends where a paragraph does, else a line, a sentence or a word, if that leaves it more
    than half as long as it may be.
    """
    for section in document.sections:
        text, start = section.text, 0
        while start < len(text):
            end = _end(text, start, length)
            if text[start:end].strip():
                yield Passage(TextSpan(section.place, start, end), text[start:end])
            start = end


def _end(text: str, start: int, length: int) -> int:
    most = start + length
    if most >= len(text):
        return len(text)
    for mark in ("\n\n", "\n", ". ", " "):
        found = text.rfind(mark, start + length // 2, most)
        if found >= 0:
            return found + len(mark)
    return most
