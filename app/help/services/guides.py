"""Hearth's guides and their search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from app.base.errors import GuidesUnreadable, GuideUnknown
from app.chats.search.values.snippets import marks_in, snippet
from app.help.values.guides import Guide, GuideSection, SectionHit
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
        entries = _ENTRY.finditer(self._read_file(CONTENTS))
        return tuple(
            Guide(
                entry["topic"],
                entry["title"],
                entry["summary"],
                _PICTURE.sub("", self._read_file(f"{entry['topic']}.md")),
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
            N_(
                "Choose one of these: {topics}.",
                topics=", ".join(guide.topic for guide in self.all),
            ),
        )

    def blocks(self, guide: Guide) -> tuple[Block, ...]:
        """Return the blocks of a guide's markdown."""
        return self._parser.parse(guide.text)

    def section_at(self, address: str) -> GuideSection | None:
        """Return the section that a link between guides leads to; None for any other address."""
        match = _ADDRESS.fullmatch(address)
        if match is None:
            return None
        sections = [section for section in self._sections if section.guide.topic == match["topic"]]
        anchor_wanted = match["anchor"] or ""
        return next(
            (
                section
                for section in sections
                if not anchor_wanted or anchor(section.heading) == anchor_wanted
            ),
            None,
        )

    def search(self, words: str) -> list[SectionHit]:
        """Return the sections with all the words; first those with all in the heading."""
        terms = parse(words)
        if not terms:
            return []
        results: list[tuple[bool, SectionHit]] = []
        for section in self._sections:
            text = f"{section.heading}\n{section.text}"
            if all(marks_in(text, (term,)) for term in terms):
                is_only_in_text = not all(marks_in(section.heading, (term,)) for term in terms)
                results.append(
                    (is_only_in_text, SectionHit(section, *snippet(section.text, terms)))
                )
        results.sort(key=lambda pair: pair[0])
        return [result for _, result in results]

    @cached_property
    def _sections(self) -> tuple[GuideSection, ...]:
        return tuple(
            section for guide in self.all for section in _sections_of(guide, self.blocks(guide))
        )

    def _read_file(self, name: str) -> str:
        try:
            return (self._folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise GuidesUnreadable(
                N_("The guides cannot be shown."),
                N_("{name} cannot be read: {reason}.", name=name, reason=error),
                N_("Reinstall Hearth; your chats and models stay as they are."),
            ) from error


def anchor(heading: str) -> str:
    """Return a heading's anchor for links, as websites that render markdown build it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def plain_text(block: Block) -> str:
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
            number, heading, words = number + 1, plain_text(block), []
        else:
            words += plain_text(block).split()
    yield GuideSection(guide, max(number, 0), heading, " ".join(words) or guide.summary)
