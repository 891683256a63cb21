"""Collects what is read of a document."""

from __future__ import annotations

import re
from typing import Final

from app.documents.reading.faults import Fault, Unreadable
from app.documents.values.documents import Location, LocationKind, PagePicture, Section, Unread

_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\ud800-\udfff]")
_BLANK_LINES: Final = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


class Collected:
    """The sections so far, each numbered, and pages without text as pictures; or the one picture or
    sound that the file is.

    most: the characters that all sections may have together. unread: what was left out.
    left: the characters that there is room for.
    """

    def __init__(self, most: int) -> None:
        self.sections: list[Section] = []
        self.scanned: list[int] = []
        self.unread: set[Unread] = set()
        self.pages: list[PagePicture] = []
        self.media = b""
        self.width = self.height = 0
        self.seconds = 0.0
        self.left = most

    def add(self, kind: LocationKind, text: str, title: str = "") -> None:
        """Add a section. Raises Unreadable if the text has become too long."""
        text, title = clean(text), " ".join(clean(title).split())[:200]
        self.left -= len(text)
        if self.left < 0:
            raise Unreadable(Fault.TOO_LONG)
        self.sections.append(Section(Location(kind, len(self.sections) + 1, title), text))


def is_seen(character: str) -> bool:
    """Tell whether a character is neither white space nor one that `clean` takes out."""
    return not character.isspace() and not _CONTROLS.match(character)


def clean(text: str) -> str:
    """Take out what no reader sees: control characters, and more than one blank line in a row."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n")
    return _BLANK_LINES.sub("\n\n", _CONTROLS.sub("", text)).strip("\n")


class Outline:
    """Divides a text that comes line by line at its headings."""

    def __init__(self, collected: Collected, kind: LocationKind = LocationKind.HEADING) -> None:
        self._collected = collected
        self._kind = kind
        self._title = ""
        self._parts: list[str] = []

    def write(self, text: str) -> None:
        self._parts.append(text)

    def heading(self, title: str) -> None:
        """Begin a section; its heading is its first line, too."""
        self.end()
        self._title = title
        self._parts = [title, "\n\n"]

    def end(self) -> None:
        """Add the section that has been written. Raises Unreadable as `Collected.add` does."""
        text = "".join(self._parts)
        if text.strip():
            self._collected.add(self._kind, text, self._title)
        self._parts = []


class Words:
    """Collects a text as a whole, where an `Outline` would divide it."""

    def __init__(self) -> None:
        self.first = ""
        self._parts: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def write(self, text: str) -> None:
        self._parts.append(text)

    def heading(self, title: str) -> None:
        self.first = self.first or title
        self._parts.append(f"\n\n{title}\n\n")

    def end(self) -> None:
        """Nothing is left to be added."""
