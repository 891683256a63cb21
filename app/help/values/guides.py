"""A guide that Hearth comes with, its sections, and what a search finds in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Guide:
    """A guide.

    topic: the name of its file, by which it is asked for. text: markdown, without pictures.
    summary: one line on what is in it.
    """

    topic: str
    title: str
    summary: str
    text: str


@dataclass(frozen=True)
class GuideSection:
    """A heading of a guide, and the words under it.

    number: of the heading in the guide, from 0, which is the title. text: on one line, plain; of a
    heading with nothing under it, what the guide is about.
    """

    guide: Guide
    number: int
    heading: str
    text: str


@dataclass(frozen=True)
class FoundSection:
    """A section that a search found. marks: places of the words in the snippet, in characters."""

    section: GuideSection
    snippet: str
    marks: Sequence[tuple[int, int]]
