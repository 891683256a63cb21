"""Reads Hearth's guides and searches them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from app.base.errors import GuidesUnreadable, GuideUnknown
from app.chats.search.values.snippets import marks_in, snippet
from app.help.values.guides import FoundSection, Guide, GuideSection
from app.markdown.blocks import Block, Code, Formula, Paragraph, Table
from app.markdown.parser import Parser
from app.search.words import parse
from engines.sentences import N_

CONTENTS = "README.md"
"""The file that lists the guides, one per line, in reading order."""

_ENTRY = re.compile(
    r"^- \[(?P<title>[^\]]+)\]\((?P<topic>[\w-]+)\.md\): (?P<summary>.+)$", re.MULTILINE
)
_ADDRESS = re.compile(r"(?P<topic>[\w-]+)\.md(?:#(?P<anchor>[\w-]+))?")
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n+", re.MULTILINE)
"""Pictures are for readers on the web; they are not installed."""


class Guides:
    """The guides in a folder, read on first use.

    All methods raise GuidesUnreadable if a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parser = Parser(document=True)

    @cached_property
    def all(self) -> tuple[Guide, ...]:
        """The guides in reading order."""
        entries = _ENTRY.finditer(self._read(CONTENTS))
        return tuple(
            Guide(
                entry["topic"],
                entry["title"],
                entry["summary"],
                _PICTURE.sub("", self._read(f"{entry['topic']}.md")),
            )
            for entry in entries
        )

    def guide(self, topic: str) -> Guide:
        """Return the guide on a topic. Raises GuideUnknown."""
        for guide in self.all:
            if guide.topic == topic.lower().removesuffix(".md"):
                return guide
        raise GuideUnknown(
            N_("There is no guide on “{topic}”.", topic=topic),
            N_("Hearth has no guide on this topic."),
            N_("Choose one of these: {all}.", all=", ".join(guide.topic for guide in self.all)),
        )

    def blocks(self, guide: Guide) -> tuple[Block, ...]:
        return self._parser.parse(guide.text)

    def linked(self, address: str) -> GuideSection | None:
        """Return the section that a link between guides leads to; None for any other address."""
        found = _ADDRESS.fullmatch(address)
        if found is None:
            return None
        sections = [it for it in self._sections if it.guide.topic == found["topic"]]
        wanted = found["anchor"] or ""
        return next((it for it in sections if not wanted or anchor(it.heading) == wanted), None)

    def search(self, words: str) -> list[FoundSection]:
        """Return the sections with all the words; first those with all in the heading."""
        terms = parse(words)
        if not terms:
            return []
        found: list[tuple[bool, FoundSection]] = []
        for section in self._sections:
            whole = f"{section.heading}\n{section.text}"
            if all(marks_in(whole, (term,)) for term in terms):
                elsewhere = not all(marks_in(section.heading, (term,)) for term in terms)
                found.append((elsewhere, FoundSection(section, *snippet(section.text, terms))))
        found.sort(key=lambda pair: pair[0])
        return [it for _, it in found]

    @cached_property
    def _sections(self) -> tuple[GuideSection, ...]:
        return tuple(it for guide in self.all for it in _sections_of(guide, self.blocks(guide)))

    def _read(self, name: str) -> str:
        try:
            return (self._folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise GuidesUnreadable(
                N_("The guides cannot be shown."),
                N_("{name} cannot be read: {strerror}.", name=name, strerror=error),
                N_("Reinstall Hearth; your chats and models stay as they are."),
            ) from error


def anchor(heading: str) -> str:
    """Return a heading's anchor for links, as websites that render markdown build it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def plain(block: Block) -> str:
    """Return the text of a block without its formatting."""
    if isinstance(block, Paragraph):
        return "".join(span.text for span in block.spans)
    if isinstance(block, Code | Formula):
        return block.text
    if isinstance(block, Table):
        return " ".join("".join(span.text for span in cell) for row in block.rows for cell in row)
    return ""


def _sections_of(guide: Guide, blocks: Sequence[Block]) -> Iterator[GuideSection]:
    words: list[str] = []
    number, heading = -1, guide.title
    for block in blocks:
        if isinstance(block, Paragraph) and block.heading:
            if number >= 0:
                yield GuideSection(guide, number, heading, " ".join(words) or guide.summary)
            number, heading, words = number + 1, plain(block), []
        else:
            words += plain(block).split()
    yield GuideSection(guide, max(number, 0), heading, " ".join(words) or guide.summary)
