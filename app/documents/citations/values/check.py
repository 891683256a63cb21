"""Compares the quotes in an answer with the files that the model was given.

A quote is found only if its exact words are there as whole words: “4 May” is not found in “14 May”,
nor “refundable” in “non-refundable”, nor “5” in “5 %”. Words from two places, such as two rows of a
table, two slides or two messages, are not a quote. In a Markdown file hidden marks are ignored,
because the answer is checked as it is displayed. If the answer names a place, the words have to be
at that place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from app.documents.citations.values.context import Surroundings
from app.documents.citations.values.outline import Numbering
from app.documents.citations.values.places import FILE_NAME, Known, Mention, is_at_named_places
from app.documents.citations.values.quotes import Quote, quotes_in, readings
from app.documents.citations.values.source import SearchedText
from app.documents.values.documents import AttachedFile, Document, LocationKind, TextSpan

Verdict = Literal["found", "place_unchecked", "elsewhere", "not_found"]
"""The verdict on a quote.

found: Its words are in the files, at the place that the answer names, if any.
place_unchecked: Its words are in the files, but the place that is named cannot be checked.
elsewhere: Its words are in the files, but not at the place that is named.
not_found: Its words are not in the files.
"""

_BEST: Final[tuple[Verdict, ...]] = ("found", "place_unchecked", "elsewhere", "not_found")
_ONE_TEXT: Final = {LocationKind.PAGE, LocationKind.HEADING}
"""Places whose borders a sentence can cross; slides and messages are separate texts."""
_MOST_FINDS: Final = 2_000
"""Maximum number of occurrences of one quote that are examined in a file."""


@dataclass(frozen=True)
class Citation:
    """A quote in an answer, with its verdict.

    Attributes:
        start: Its first character in the answer as displayed, including the quotation mark.
        end: The character after its last, including the quotation mark.
        name: The file that it was found in.
        document: The SHA-256 of that file.
        spans: Where it was found; more than one if the quote crosses a page break.
    """

    quote: str
    start: int
    end: int
    verdict: Verdict
    name: str = ""
    document: str = ""
    spans: tuple[TextSpan, ...] = ()


CopyState = Literal["here", "missing", "changed"]
"""The state of the stored copy of a file. changed: its bytes differ from those that were read."""


@dataclass(frozen=True)
class GivenPassage:
    """A part of a file that the model was given.

    Attributes:
        name: The name of the file.
        document: The SHA-256 of the file.
        spans: Its place in the file; empty for the whole file.
        text: Its beginning; "" for a picture or a sound.
    """

    name: str
    document: str
    spans: tuple[TextSpan, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class CheckedAnswer:
    """The quotes of an answer with their verdicts.

    Attributes:
        given: The parts of files in the answer's prompt, as far as the files are still stored.
        copies: The state of the copy of each file in which a quote was found, by SHA-256.
        gone: Names of files whose text is no longer stored; only the others were searched.
    """

    citations: tuple[Citation, ...]
    copies: Mapping[str, CopyState]
    gone: tuple[str, ...] = ()
    given: tuple[GivenPassage, ...] = ()

    def count(self, verdict: Verdict) -> int:
        """Return the number of citations with this verdict."""
        return sum(citation.verdict == verdict for citation in self.citations)


class CitationCheck:
    """Checks quotes against files; prepares each file once."""

    def __init__(self, files: Sequence[AttachedFile]) -> None:
        self._files = [_File(file) for file in files]
        self._known = Known(lambda: [file.outline for file in self._files])
        self._names = {
            name: re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)")
            for name in sorted(_names_of(files), key=len, reverse=True)
        }

    def check(self, answer: str) -> tuple[Citation, ...]:
        """Check the quotes in an answer, in order."""
        quotes = quotes_in(answer)
        surroundings = Surroundings(answer, quotes, self._known)
        checked = (self._checked(answer, quote, surroundings) for quote in quotes)
        return tuple(citation for citation in checked if citation is not None)

    def find(self, words: str) -> tuple[Citation, ...]:
        """Search for words, and return the first occurrence in each file."""
        found = []
        for file in self._files:
            start, end = next(file.source.find(words), (0, 0))
            if spans := tuple(file.document.spans(start, end)):
                found.append(Citation(words, 0, len(words), "found", file.name, file.sha256, spans))
        return tuple(found)

    def _checked(self, answer: str, quote: Quote, surroundings: Surroundings) -> Citation | None:
        """Return the best verdict on any reading of a quote; None if it is only advice."""
        tried = [self._read(reading, surroundings) for reading in readings(answer, quote)]
        best = min(tried, key=lambda citation: _BEST.index(citation.verdict))
        if best.verdict == "not_found":
            return None if quote.is_doubtful else tried[-1]
        return best

    def _read(self, quote: Quote, surroundings: Surroundings) -> Citation:
        before, after = surroundings.text_around(quote)
        named = self._named(after) or self._named(before)
        places: list[Mention] | None = None
        best = Citation(quote.words, quote.start, quote.end, "not_found")
        for file in self._files:
            for count, (start, end) in enumerate(file.source.find(quote.words)):
                spans = tuple(file.document.spans(start, end))
                if not spans or (len(spans) > 1 and spans[0].place.kind not in _ONE_TEXT):
                    continue
                if places is None:
                    places = surroundings.places_of(quote)
                verdict: Verdict = "elsewhere"
                called = _called(file.name) | {spans[0].place.attached[0].casefold()}
                if named is None or not named.isdisjoint(called):
                    stands = is_at_named_places(
                        places, file.document, file.outline, spans, start, end
                    )
                    verdict = _VERDICTS[stands]
                if _BEST.index(verdict) < _BEST.index(best.verdict):
                    best = Citation(
                        quote.words, quote.start, quote.end, verdict, file.name, file.sha256, spans
                    )
                if verdict == "found" or count >= _MOST_FINDS:
                    break
        return best

    def _named(self, text: str) -> set[str] | None:
        """Return the file names in a text, including unknown files; None if there are none."""
        found: set[str] = set()
        for name, pattern in self._names.items():  # the longest first, as it can contain others
            text, count = pattern.subn(" ", text)
            if count:
                found.add(name.casefold())
        found.update(name.casefold() for name in FILE_NAME.findall(text))
        return found or None


class _File:
    """A file that is prepared for searching on first use."""

    def __init__(self, file: AttachedFile) -> None:
        self.name = file.name
        self.document: Document = file.document
        self.sha256 = file.document.sha256

    @cached_property
    def source(self) -> SearchedText:
        return SearchedText(self.document)

    @cached_property
    def outline(self) -> Numbering:
        return Numbering(self.document)


_VERDICTS: Final[Mapping[str, Verdict]] = {
    "yes": "found",
    "unknown": "place_unchecked",
    "no": "elsewhere",
}


def _names_of(files: Sequence[AttachedFile]) -> set[str]:
    """Return the names of the files and of their attachments."""
    places = (section.place for file in files for section in file.document.sections)
    return {file.name for file in files} | {place.attached[0] for place in places} - {""}


def _called(name: str) -> set[str]:
    """Return the names of a file: its path, and its last part."""
    name = name.casefold()
    return {name, name.rpartition("/")[2]}
