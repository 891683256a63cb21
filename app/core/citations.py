"""Holds the quotes of an answer against the documents that it was told: pure.

A quote is found only where its very words stand. White space, hyphens at the ends of lines, soft
hyphens, the shapes of quotation marks, ligatures and composed characters do not count; everything
else does, upper and lower case too. What is put together from two places is no quote: from two rows
of a table, two slides, two messages. Nor is a part of a word or number: “4 May” does not stand in
“14 May”, “refundable” not in “non-refundable”, “5” not in “5 %”.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from app.core.documents import AttachedFile, Document, DocumentKind, LocationKind, TextSpan

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

_PLACE: Final = re.compile(
    r"\b(?:pages?|pp?\.|Seiten?|S\.|slides?|Folien?|sheets?|Blatt|Blätter|sections?|Abschnitte?|"
    r"chapters?|Kapitel|messages?|Nachricht(?:en)?)\s*"
    r"(\d{1,6}(?:\s*(?:-|–|,|;|&|to|bis|and|und)\s*\d{1,6}\b(?!\.\d))*)",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(r"(\d+)(?:\s*(?:-|–|to|bis)\s*(\d+))?", re.IGNORECASE)
_MOST_PLACES: Final = 10_000

_FILE_NAME: Final = re.compile(
    r"[^\s\[\](){}<>“”„«»\"',;:/\\]+\.(?:pdf|docx?|xlsx?|pptx?|epub|txt|md|markdown|html?|csv|tsv|"
    r"eml|mbox|odt|rtf)\b",
    re.IGNORECASE,
)
"""What an answer calls a file; a name with spaces is known only if there is a file of that name."""

_SENTENCE_END: Final = re.compile(
    r"(?:(?:(?<=\w{5})|(?<!\w))\.|[!?…])[\"”“’»«)\]]*\s+(?=[\"“„»«(\[]*[A-ZÄÖÜ])|\n"
)
"""A short word before a full stop is an abbreviation more often than an end, as in “see p. A4”."""

_WORD: Final = re.compile(r"\w+")

_BREAK: Final = "\x01"
"""Stands in a normalised text for a hyphen at the end of a line: it may be of the word or not."""

_MARKS: Final = {
    **dict.fromkeys("“”„‟«»″", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u2032", "'"),
    **dict.fromkeys("\u2010\u2011", "-"),
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
    r"|(?P<range>(?<=\w)[-\u2010][ \t]*\n\s*(?=\w))|(?P<space>[^\S ]\s*| \s+)"
    rf"|(?P<mark>[{''.join(_MARKS)}])|(?P<composed>.[\u0300-\u036f]+)",
)
_EDGE: Final = "\x02"
_ROW: Final = re.compile(r"\S[ ]*(?:\t| \| )")
"""A line with it is a row of a table; what stands in the next one is not its continuation."""
_ONE_TEXT: Final = {LocationKind.PAGE, LocationKind.HEADING}
"""Places over whose borders a sentence may go on; slides and messages are each for themselves."""

_WITHIN_NUMBERS: Final = ".,:/'"
_SIGNS: Final = "-+\u2212\u00b1<>\u2264\u2265~\u2248\u2013"
_GROUP: Final = re.compile(r"\d{3}(?!\d)")
_GROUP_BEFORE: Final = re.compile(r"(?<!\d)\d{1,3} $")
_GROUP_END: Final = re.compile(r"(?<!\d)\d{1,3}$")
"""Figures in groups of three, with spaces between them."""

_UNITS: Final = "%\u2030\u00b0$\u20ac\u00a3\u00a5"
"""Signs that belong to a number; without them it is another."""


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
        self._files = [(file, _Source(file.document)) for file in files]
        self._names = {
            name: re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)")
            for name in sorted({it.name for it in files}, key=len, reverse=True)
        }

    def check(self, answer: str) -> tuple[Citation, ...]:
        """Check the quotes of an answer, in their order."""
        quotes = [it for it in _QUOTE.finditer(answer) if _WORDS.search(_inside(it))]
        begins = [0, *(it.end() for it in quotes)]
        ends = [*(it.start() for it in quotes), len(answer)]
        return tuple(
            self._checked(
                it,
                _same_sentence_before(answer[max(begin, it.start() - _NAMED_WITHIN) : it.start()]),
                _same_sentence_behind(answer[it.end() : min(it.end() + _NAMED_WITHIN, end)]),
            )
            for it, begin, end in zip(quotes, begins, ends[1:], strict=False)
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

    def _checked(self, quote: re.Match[str], before: str, behind: str) -> Citation:
        words = _inside(quote)
        named = self._named(behind) or self._named(before)
        numbers = _numbers(behind) or _numbers(before)
        best = Citation(words, quote.start(), quote.end(), "not_found")
        for file, source in self._files:
            for start, end in source.find(words):
                spans = tuple(file.document.spans(start, end))
                if len(spans) > 1 and spans[0].place.kind not in _ONE_TEXT:
                    continue
                right = named is None or not named.isdisjoint(_called(file.name))
                if right and numbers is not None:
                    right = any(span.place.number in numbers for span in spans)
                verdict: Verdict = "found" if right else "elsewhere"
                if best.verdict in {"found", verdict}:
                    continue
                best = Citation(
                    words, quote.start(), quote.end(), verdict, file.name,
                    file.document.sha256, spans,
                )  # fmt: skip
        return best

    def _named(self, text: str) -> set[str] | None:
        """Return the files that a text names, also those that are not here; None where none is."""
        found: set[str] = set()
        for name, pattern in self._names.items():  # the longest first, which may have others in it
            text, count = pattern.subn(" ", text)
            if count:
                found.add(name.casefold())
        found.update(name.casefold() for name in _FILE_NAME.findall(text))
        return found or None


def _called(name: str) -> set[str]:
    """Return what a file may be called: its name, and that without the folders before it."""
    name = name.casefold()
    return {name, name.rpartition("/")[2]}


class _Source:
    """A normalised text, in which quotes are sought; places are those of the text itself."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._is_table = document.kind is DocumentKind.CSV

    @cached_property
    def _normal(self) -> tuple[str, list[int], list[int]]:
        """The text, with the places where pieces of it begin there and in the original."""
        parts: list[str] = []
        ours, theirs = [0], [0]
        length = at = 0
        for found in _SPECIAL.finditer(self._text):
            before = self._text[at : found.start()]
            piece = "\n" if self._ends_row(found) else _replaced(found)
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

    def _ends_row(self, found: re.Match[str]) -> bool:
        """Tell whether white space lies between two rows of a table, or beside one."""
        space = found["space"]
        if not space or "\n" not in space:
            return False
        start, end = (
            self._text.rfind("\n", 0, found.start()) + 1,
            self._text.find("\n", found.end()),
        )
        above = self._text[start : found.start()]
        below = self._text[found.end() : end if end >= 0 else None]
        return self._is_table or bool(_ROW.search(above) or _ROW.search(below))

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
    if character == "-":
        return f"(?:-|{_BREAK})"
    return re.escape(character) if character != _BREAK else f"(?:-|{_BREAK})?"


def _is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether no word and no number goes on beyond the ends of a find."""
    before = text[max(0, start - 5) : start].rjust(5, _EDGE)
    after = text[end : end + 5].ljust(5, _EDGE)
    first, last = text[start], text[end - 1]
    if _joins(before[-1], first) or _joins(last, after[0]):
        return False
    if _linked(before[-2], before[-1], first) or _linked(last, after[0], after[1]):
        return False
    return not (
        (first.isdigit() and _is_of_number_before(before, text[start : start + 4]))
        or (last.isdigit() and _is_of_number_after(text[max(0, end - 4) : end], after))
    )


def _joins(one: str, other: str) -> bool:
    """Whether two characters belong to one word."""
    return _is_of_word(one) and _is_of_word(other)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character in {"_", _BREAK}


def _linked(one: str, between: str, other: str) -> bool:
    """Whether a sign such as a hyphen makes one word or number of what stands around it."""
    return between in "-'.@" and one.isalnum() and other.isalnum()


def _is_of_number_before(before: str, first: str) -> bool:
    """Whether a number begins before its first digits, which are the first of a find."""
    mark, further = before[-1], before[-2]
    if mark in _WITHIN_NUMBERS and (further.isdigit() or (mark in ".," and not further.isalnum())):
        return True
    if mark in _UNITS or mark in _SIGNS:
        return True
    return bool(_GROUP_BEFORE.search(before) and _GROUP.match(first))


def _is_of_number_after(last: str, after: str) -> bool:
    """Whether a number goes on behind its last digits, which are the last of a find."""
    mark, further = after[0], after[1]
    if mark in _WITHIN_NUMBERS + "\u2013" and further.isdigit():
        return True
    if mark in _UNITS or (mark == " " and further in _UNITS and not after[2].isdigit()):
        return True
    return bool(_GROUP_END.search(last) and _GROUP.match(after[1:]) and mark == " ")


def _original(at: int, ours: Sequence[int], theirs: Sequence[int]) -> int:
    piece = bisect.bisect_right(ours, at) - 1
    return theirs[piece] + at - ours[piece]


def _same_sentence_before(text: str) -> str:
    """Return what of the text before a quote belongs to its sentence."""
    ends = [it.end() for it in _SENTENCE_END.finditer(text)]
    return text[ends[-1] :] if ends else text


def _same_sentence_behind(text: str) -> str:
    """Return what of the text behind a quote belongs to its sentence, or names its place alone."""
    end = _SENTENCE_END.search(text)
    if end is None:
        return text
    rest = text[end.end() :].lstrip()
    next_end = _SENTENCE_END.search(rest)
    following = rest[: next_end.start() + 1] if next_end else rest
    others = _WORD.findall(_PLACE.sub(" ", _FILE_NAME.sub(" ", following)))
    is_place = following.rstrip().endswith((".", ")", "]")) and len(others) <= 2
    return text if is_place or rest.startswith(("(", "[")) else text[: end.start() + 1]


def _numbers(text: str) -> set[int] | None:
    """Return the numbers of the places that a text names; None where it names none."""
    found: set[int] = set()
    for place in _PLACE.finditer(text):
        for part in _RANGE.finditer(place[1]):
            first = int(part[1])
            last = min(int(part[2] or first), first + _MOST_PLACES)
            found.update(range(first, last + 1))
    return found or None
