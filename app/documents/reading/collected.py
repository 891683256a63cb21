"""Collects the content of a document while it is read."""

from __future__ import annotations

import re
from typing import Final

from app.documents.reading.faults import Fault, Unreadable
from app.documents.values.documents import Location, LocationKind, PagePicture, Section, Unread

_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff\ud800-\udfff]")
_BLANK_LINES: Final = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


class Collected:
    """The content of a file so far.

    It has numbered sections, and pages without text as pictures; or the file's only picture or
    sound.

    Attributes:
        unread: The parts that were left out.
        left: The characters that still have room.
    """

    def __init__(self, most: int) -> None:
        """Begin empty.

        Args:
            most: Maximum characters of all sections together.
        """
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
    """Return whether a character is neither white space nor removed by `clean`."""
    return not character.isspace() and not _CONTROLS.match(character)


def clean(text: str) -> str:
    """Remove control characters, and more than one blank line in a row."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n")
    return _BLANK_LINES.sub("\n\n", _CONTROLS.sub("", text)).strip("\n")


class Outline:
    """Divides a text that arrives line by line at its headings."""

    def __init__(self, collected: Collected, kind: LocationKind = LocationKind.HEADING) -> None:
        self._collected = collected
        self._kind = kind
        self._title = ""
        self._parts: list[str] = []

    def write(self, text: str) -> None:
        """Add text to the current section."""
        self._parts.append(text)

    def heading(self, title: str) -> None:
        """Begin a section; the heading is its first line too."""
        self.end()
        self._title = title
        self._parts = [title, "\n\n"]

    def end(self) -> None:
        """Add the section written so far. Raises Unreadable as `Collected.add` does."""
        text = "".join(self._parts)
        if text.strip():
            self._collected.add(self._kind, text, self._title)
        self._parts = []


class Words:
    """Collects a text as a whole, in place of an `Outline`, which would divide it."""

    def __init__(self) -> None:
        self.first = ""
        self._parts: list[str] = []

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(self._parts)

    def write(self, text: str) -> None:
        """Add text."""
        self._parts.append(text)

    def heading(self, title: str) -> None:
        """Add a heading as a paragraph of its own; the first one is remembered."""
        self.first = self.first or title
        self._parts.append(f"\n\n{title}\n\n")

    def end(self) -> None:
        """Do nothing: no section is left to add."""
