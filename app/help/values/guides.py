"""A guide, its sections, and the results of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Guide:
    """A guide.

    Attributes:
        topic: The name of its file without the ending, by which the user requests it.
        summary: One line on its content.
        text: Markdown, without pictures.
    """

    topic: str
    title: str
    summary: str
    text: str


@dataclass(frozen=True)
class GuideSection:
    """A heading of a guide, and the text below it.

    Attributes:
        number: The number of the heading in the guide; 0 is the title.
        text: Plain text on one line; the guide's summary if there is nothing below the heading.
    """

    guide: Guide
    number: int
    heading: str
    text: str


@dataclass(frozen=True)
class SectionHit:
    """A section that a search found.

    Attributes:
        marks: The positions of the words in the snippet, as begin and end in characters.
    """

    section: GuideSection
    snippet: str
    marks: Sequence[tuple[int, int]]
