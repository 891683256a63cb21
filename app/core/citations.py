"""Holds the quotes of an answer against the documents that it was told: pure.

A quote is found only where its very words stand. White space, hyphens at the ends of lines, soft
hyphens, the shapes of quotation marks, ligatures and composed characters do not count; everything
else does, upper and lower case too. What is put together from two places is no quote, and nor is a
part of a word or number: “4 May” does not stand in “14 May”.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from app.core.documents import AttachedFile, TextSpan

Verdict = Literal["found", "elsewhere", "not_found"]
"""elsewhere: the words stand in the files, but not at the place that the answer names."""

_QUOTE: Final = re.compile(
    r"“([^“”]{4,2000})”|„([^„“”]{4,2000})[“”]|«([^«»]{4,2000})»|»([^«»]{4,2000})«"
    r'|(?<!\w)"([^"\n]{4,2000})"(?!\w)'
)
_WORDS: Final = re.compile(r"\w+(?:\W+\w+)+")
"""A single word between quotation marks is a name more often than a quote."""

_NAMED_WITHIN: Final = 120
"""Characters behind a quote in which its place is named."""

_NUMBER: Final = re.compile(
    r"\b(?:pages?|pp?\.|Seiten?|S\.|slides?|Folien?|sheets?|Blatt|sections?|Abschnitt|chapters?|"
    r"Kapitel|messages?|Nachricht)\s*(\d{1,6})(?:\s*(?:-|–|to|bis)\s*(\d{1,6}))?",
    re.IGNORECASE,
)

_BREAK: Final = "\x01"
"""Stands in a normalised text for a hyphen at the end of a line: it may be of the word or not."""

_MARKS: Final = {
    **dict.fromkeys("“”„‟«»″", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u2032", "'"),
    "\u00ad": "",
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
}
_SPECIAL: Final = re.compile(
    r"(?P<hyphen>(?<=[^\W\d_])[-\u2010\u00ad][ \t]*\n\s*(?=[^\W\d_]))"
    r"|(?P<range>(?<=\w)[-\u2010][ \t]*\n\s*(?=\w))|(?P<space>\s+)"
    rf"|(?P<mark>[{''.join(_MARKS)}])|(?P<composed>.[\u0300-\u036f]+)",
)
_EDGE: Final = "\x02"


@dataclass(frozen=True)
class Citation:
    """A quote in an answer, and whether it was found.

    start, end: characters of the answer as it is read, with the quotation marks. name, document:
    the file that it was found in, and its hash. spans: the places there; more than one where it
    goes over a page.
    """

    quote: str
    start: int
    end: int
    verdict: Verdict
    name: str = ""
    document: str = ""
    spans: tuple[TextSpan, ...] = ()


CopyState = Literal["here", "missing", "changed"]
"""The state of the kept copy of a file. changed: its bytes are not those that were read."""


@dataclass(frozen=True)
class CheckedAnswer:
    """The quotes of an answer with their verdicts.

    copies: the state of the copy of each file in which a quote was found, by its hash. gone: the
    names of files whose text is not kept any more; it was held against the others.
    """

    citations: tuple[Citation, ...]
    copies: Mapping[str, CopyState]
    gone: tuple[str, ...] = ()

    def count(self, verdict: Verdict) -> int:
        return sum(it.verdict == verdict for it in self.citations)


class CitationCheck:
    """Checks quotes against files; each file is prepared once."""

    def __init__(self, files: Sequence[AttachedFile]) -> None:
        self._files = [(file, _Source(file.document.text)) for file in files]

    def check(self, answer: str) -> tuple[Citation, ...]:
        """Check the quotes of an answer, in their order."""
        quotes = [it for it in _QUOTE.finditer(answer) if _WORDS.search(_inside(it))]
        ends = [*(it.start() for it in quotes), len(answer)]
        return tuple(
            self._checked(it, answer[it.end() : min(it.end() + _NAMED_WITHIN, end)])
            for it, end in zip(quotes, ends[1:], strict=True)
        )

    def find(self, words: str) -> tuple[Citation, ...]:
        """Look for words by themselves: where they stand first in each file that has them."""
        found = []
        for file, source in self._files:
            start, end = next(source.find(words), (0, 0))
            if spans := tuple(file.document.spans(start, end)):
                sha256 = file.document.sha256
                found.append(Citation(words, 0, len(words), "found", file.name, sha256, spans))
        return tuple(found)

    def _checked(self, quote: re.Match[str], behind: str) -> Citation:
        words = _inside(quote)
        named = [it for it in self._files if it[0].name in behind]
        numbers = _numbers(behind)
        verdict: Verdict = "not_found"
        best = Citation(words, quote.start(), quote.end(), verdict)
        for file, source in self._files:
            for start, end in source.find(words):
                spans = tuple(file.document.spans(start, end))
                right = not named or any(file is it for it, _ in named)
                if right and numbers is not None:
                    right = any(span.place.number in numbers for span in spans)
                verdict = "found" if right else "elsewhere"
                if best.verdict in {"found", verdict}:
                    continue
                best = Citation(
                    words, quote.start(), quote.end(), verdict, file.name,
                    file.document.sha256, spans,
                )  # fmt: skip
        return best


class _Source:
    """A normalised text, in which quotes are sought; places are those of the text itself."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _normal(self) -> tuple[str, list[int], list[int]]:
        """The text, with the places where pieces of it begin there and in the original."""
        parts: list[str] = []
        ours, theirs = [0], [0]
        length = at = 0
        for found in _SPECIAL.finditer(self._text):
            before = self._text[at : found.start()]
            piece = _replaced(found)
            parts += (before, piece)
            length += len(before)
            ours.append(length)
            theirs.append(found.start())
            length += len(piece)
            at = found.end()
            ours.append(length)
            theirs.append(at)
        parts.append(self._text[at:])
        return "".join(parts), ours, theirs

    def find(self, quote: str) -> Iterator[tuple[int, int]]:
        """Yield where a quote stands, as characters of the original text."""
        normal, ours, theirs = self._normal
        wanted = normalised(quote).strip()
        if not wanted:
            return
        pattern = re.compile(f"{_BREAK}?".join(map(_character, wanted)))
        for found in pattern.finditer(normal):
            if _is_whole(normal, found.start(), found.end()):
                yield (
                    _original(found.start(), ours, theirs),
                    _original(found.end(), ours, theirs),
                )


def normalised(text: str) -> str:
    """Write a text without what does not count in a quote."""
    return _SPECIAL.sub(_replaced, text)


def _inside(quote: re.Match[str]) -> str:
    return next(filter(None, quote.groups()), "")


def _replaced(found: re.Match[str]) -> str:
    if found["hyphen"]:
        return _BREAK
    if found["range"]:
        return "-"  # of figures: without it they would be another number
    if found["space"]:
        return " "
    if found["mark"]:
        return _MARKS[found["mark"]]
    return unicodedata.normalize("NFC", found["composed"])


def _character(character: str) -> str:
    """Match a character of a quote; a hyphen also as one at the end of a line."""
    if character in {"-", "\u2010"}:
        return f"(?:[-\u2010]|{_BREAK})"
    return re.escape(character) if character != _BREAK else f"(?:-|{_BREAK})?"


def _is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether no word and no number goes on beyond the ends of a find."""
    before = text[max(0, start - 2) : start].rjust(2, _EDGE)
    after = text[end : end + 2].ljust(2, _EDGE)
    if _joins(before[1], text[start]) or _joins(text[end - 1], after[0]):
        return False
    if text[start].isdigit():
        inside = before[1] in ".,:/" and before[0].isdigit()
        signed = before[1] in "-\u2212" and not before[0].isalnum()
        if inside or signed:
            return False
    return not (text[end - 1].isdigit() and after[0] in ".,:/" and after[1].isdigit())


def _joins(one: str, other: str) -> bool:
    """Whether two characters belong to one word."""
    return (one.isalnum() or one == _BREAK) and (other.isalnum() or other == _BREAK)


def _original(at: int, ours: Sequence[int], theirs: Sequence[int]) -> int:
    piece = bisect.bisect_right(ours, at) - 1
    return theirs[piece] + at - ours[piece]


def _numbers(behind: str) -> range | None:
    """Return the numbers of the places that are named behind a quote; None where none is."""
    named = _NUMBER.search(behind)
    if named is None:
        return None
    first = int(named[1])
    return range(first, int(named[2] or first) + 1)
