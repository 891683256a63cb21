"""Holds the quotes of an answer against the documents that it was told: pure.

A quote is found only where its very words stand. White space, hyphens at the ends of lines, soft
hyphens, the shapes of quotation marks, ligatures and composed characters do not count; everything
else does, upper and lower case too. What Markdown hides does not count in a file of Markdown: an
answer is checked as it is read, and its marks are hidden as well. What is put together from two
places is no quote: from two rows of a table, two slides, two messages. Nor is a part of a word or
number: “4 May” does not stand in “14 May”, “refundable” not in “non-refundable”, “5” not in “5 %”.
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
from app.core.shifted import LOWERED_DIGITS, raised

Verdict = Literal["found", "elsewhere", "not_found"]
"""elsewhere: the words stand in the files, but not at the place that the answer names."""

_INNER: Final = "(?:[^“”„]|“[^“”„]*”|„[^“”„]*[“”])"
"""Of what a quote consists: words, and what somebody says in them, with its own marks."""
_QUOTE: Final = re.compile(
    rf"“({_INNER}{{4,5000}})”|„({_INNER}{{4,5000}}?)[“”]"
    r"|«([^«»]{4,5000})»|»([^«»]{4,5000})«"
    r'|(?<!\w)"([^"\n]{4,5000})"(?!\w)'
)
_WORDS: Final = re.compile(r"\w+(?:\W+\w+)+")
"""A single word between quotation marks is a name more often than a quote."""

_NAMED_WITHIN: Final = 120
"""Characters behind a quote in which its place is named."""

_PLACE: Final = re.compile(
    r"\b(?:pages?|pgs?\.?|pp?\.?|Seiten?|S\.|slides?|Folien?|sheets?|Blatt|Blätter|"
    r"messages?|Nachricht(?:en)?|(?P<section>sections?|secs?\.|Abschnitte?|Abschn\.|"
    r"chapters?|chs?\.|Kapitel|Kap\.))(?:\s*(?:no\.|nr\.|number|nummer|#|:))?\s*"
    r"(\d{1,6}(?:\s*(?:-|–|,|;|&|to|bis|and|und)\s*\d{1,6}\b(?!\.\d))*)",
    re.IGNORECASE,
)
_NTH_PLACE: Final = re.compile(
    r"\b(?:(\d{1,6})(?:st|nd|rd|th|\.)|(?P<word>[a-zäöü]{3,9}))\s+"
    r"(?:page|slide|sheet|message|Seite|Folie|Blatt|Nachricht)\b",
    re.IGNORECASE,
)
_NTH: Final = (
    ("first", "erste", "ersten"),
    ("second", "zweite", "zweiten"),
    ("third", "dritte", "dritten"),
    ("fourth", "vierte", "vierten"),
    ("fifth", "fünfte", "fünften"),
    ("sixth", "sechste", "sechsten"),
    ("seventh", "siebte", "siebten"),
    ("eighth", "achte", "achten"),
    ("ninth", "neunte", "neunten"),
    ("tenth", "zehnte", "zehnten"),
)
_RANGE: Final = re.compile(r"(\d+)(?:\s*(?:-|–|to|bis)\s*(\d+))?", re.IGNORECASE)
_MOST_PLACES: Final = 10_000
_Counted = Literal["page", "section"]
_WITH_PAGES: Final = {
    LocationKind.PAGE,
    LocationKind.SLIDE,
    LocationKind.SHEET,
    LocationKind.MESSAGE,
}
"""Places that no number of a section or chapter says anything of."""

_ENDINGS: Final = (
    r"\.(?:pdf|docx?|xlsx?|pptx?|epub|txt|md|markdown|html?|csv|tsv|eml|mbox|odt|rtf)\b"
)
_FILE_NAME: Final = re.compile(r"[^\s\[\](){}<>“”„«»\"',;:/\\]+" + _ENDINGS, re.IGNORECASE)
_BEHIND_NAME: Final = re.compile(
    _ENDINGS + r"\s*[:,]\s*(\d{1,6})\s*(?:[)\]]|$)", re.IGNORECASE | re.MULTILINE
)
"""What an answer calls a file; a name with spaces is known only if there is a file of that name."""

_SENTENCE_END: Final = re.compile(
    r"(?:(?:(?<=\w{5})|(?<!\w))\.|[!?…])[\"”“’»«)\]]*\s+(?=[\"“„»«(\[]*[A-ZÄÖÜ])|\n"
)
"""A short word before a full stop is an abbreviation more often than an end, as in “see p. A4”."""

_LIST_MARKS: Final = " \t\n-*\u2022>"
_WORD: Final = re.compile(r"\w+")

_BREAK: Final = "\x01"
"""Stands in a normalised text for a hyphen at the end of a line: it may be of the word or not."""

_HIDDEN: Final = "\x03"
_ADDRESS: Final = "\x04"
"""Stand in a normalised text for what Markdown hides: marks of emphasis, and addresses of links."""

_ALL_HIDDEN: Final = f"(?:{_HIDDEN}|{_ADDRESS}++){{0,9}}+"
"""What may lie between two characters; more in a row would let a hostile file slow the search."""

_MARKS_OF_EMPHASIS: Final = "*_`~"
_LONG_RUN: Final = re.compile(f"[{_MARKS_OF_EMPHASIS}]{{4}}")

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
    "\u017ft": "st",  # so does PDFium write the ligature
}
_SPECIAL: Final = re.compile(
    r"(?P<hyphen>(?<=[^\W\d_])[-\u2010\u00ad][ \t]*\n\s*(?=[^\W\d_]))"
    r"|(?P<range>(?<=\w)[-\u2010][ \t]*\n\s*(?=\w))|(?P<space>[^\S ]\s*| \s+)"
    rf"|(?P<mark>{'|'.join(_MARKS)})|(?P<composed>.[\u0300-\u036f]+)"
    r"|(?P<power>\^(?:\{[0-9n+\-\u2212]+\}|\([0-9n+\-\u2212]+\)|[-+\u2212]?[0-9]+|n\b))",
)
_EDGE: Final = "\x02"
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f]")
_ROW: Final = re.compile(r"\S[ ]*(?:\t| \| )")
"""A line with it is a row of a table; what stands in the next one is not its continuation."""
_ONE_TEXT: Final = {LocationKind.PAGE, LocationKind.HEADING}
"""Places over whose borders a sentence may go on; slides and messages are each for themselves."""

_WITHIN_NUMBERS: Final = ".,:/'"
_SIGNS: Final = "-+\u2212\u00b1<>\u2264\u2265~\u2248\u2013"
_SIGN_BEFORE: Final = re.compile(r"(?:[\u2212\u00b1<>\u2264\u2265\u2248]|[|=(] [-+~\u2013]) $")
"""A sign of a number, though there is a space behind it; a dash stands between two words."""
_GROUP: Final = re.compile(r"\d{3}(?!\d)")
_GROUP_BEFORE: Final = re.compile(r"(?<!\d)\d{1,3} $")
_GROUP_END: Final = re.compile(r"(?<!\d)\d{1,3}$")
"""Figures in groups of three, with spaces between them."""
_FRACTION: Final = re.compile(r"[\u00bc-\u00be\u2150-\u215e]|\d{1,2}[/\u2044]\d")
"""What makes one number with a whole one before it, as in “1 ½”."""

_RAISED: Final = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
_BEFORE_NOTE: Final = re.compile(r"[^\W\d_]{4}$")
"""A word before the number of a footnote; a unit that has an exponent is shorter."""

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
            for name in sorted(_names_of(files), key=len, reverse=True)
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
        numbers = _numbers(before) | _numbers(behind)
        best = Citation(words, quote.start(), quote.end(), "not_found")
        for file, source in self._files:
            for start, end in source.find(words):
                spans = tuple(file.document.spans(start, end))
                if len(spans) > 1 and spans[0].place.kind not in _ONE_TEXT:
                    continue
                attached, page = spans[0].place.attached if spans else ("", 0)
                called = _called(file.name) | {attached.casefold()}
                right = named is None or not named.isdisjoint(called)
                if right and spans:
                    wanted = _wanted(numbers, spans[0].place.kind)
                    places = {page} if page else set()
                    right = not wanted.isdisjoint(places | {it.place.number for it in spans})
                    right = right or not wanted
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


def _wanted(numbers: Mapping[_Counted, set[int]], kind: LocationKind) -> set[int]:
    """Return the numbers that a place of this kind may have; none where all of them may be."""
    if kind in _WITH_PAGES:
        return numbers.get("page", set())
    return set().union(*numbers.values())


def _names_of(files: Sequence[AttachedFile]) -> set[str]:
    """Return the names of files, and of what is attached to them."""
    places = (section.place for file in files for section in file.document.sections)
    return {file.name for file in files} | {place.attached[0] for place in places} - {""}


def _called(name: str) -> set[str]:
    """Return what a file may be called: its name, and that without the folders before it."""
    name = name.casefold()
    return {name, name.rpartition("/")[2]}


class _Source:
    """A normalised text, in which quotes are sought; places are those of the text itself."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._is_table = document.kind in {DocumentKind.CSV, DocumentKind.XLSX}
        self._is_markdown = document.kind is DocumentKind.MARKDOWN

    @cached_property
    def _normal(self) -> tuple[str, list[int], list[int]]:
        """The text, with the places where pieces of it begin there and in the original."""
        parts: list[str] = []
        ours, theirs = [0], [0]
        length = at = 0
        text = _with_hidden(self._text) if self._is_markdown else self._text
        for found in _SPECIAL.finditer(text):
            before = text[at : found.start()]
            piece = "\n" if self._ends_row(found) else _replaced(found)
            parts += (before, piece)
            length += len(before)
            ours.append(length)
            theirs.append(found.start())
            length += len(piece)
            at = found.end()
            ours.append(length)
            theirs.append(at)
        parts.append(text[at:])
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

    @property
    def _between(self) -> str:
        """What may stand between two characters of a quote that follow each other."""
        return f"{_ALL_HIDDEN}{_BREAK}?" if self._is_markdown else f"{_BREAK}?"

    def find(self, quote: str) -> Iterator[tuple[int, int]]:
        """Yield where a quote stands, as characters of the original text."""
        normal, ours, theirs = self._normal
        if _CONTROL.search(quote):
            return
        if self._is_markdown:
            quote = _seen(_with_hidden(quote))
        wanted = normalised(quote).strip()
        if not wanted:
            return
        for found in _pattern(wanted, self._between).finditer(normal):
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
        return "\t" if "\t" in found["space"] and "\n" not in found["space"] else " "
    if found["mark"]:
        return _MARKS[found["mark"]]
    if found["power"]:
        return raised(found["power"].strip("^{}()"))  # 10^2 is 10²
    return unicodedata.normalize("NFC", found["composed"])


_LETTER_BEFORE: Final = re.compile(rf"[^\W\d_]_?[0-9{LOWERED_DIGITS}]*$")


def _index(wanted: str, at: int) -> str:
    """Match a part of an index however it is written, as in H₂O; "" where it is none.

    Behind a digit it would be another number.
    """
    character = wanted[at]
    if character == "_" and wanted[at + 1 : at + 2].isdigit():
        return f"(?:_|(?=[{LOWERED_DIGITS}])|(?<={_HIDDEN}))"
    is_lowered = character in LOWERED_DIGITS
    if not (is_lowered or character in "0123456789") or not _LETTER_BEFORE.search(
        wanted[max(0, at - 9) : at]
    ):
        return ""
    digit = unicodedata.digit(character)
    return f"{'_?' if is_lowered else ''}[{digit}{LOWERED_DIGITS[digit]}]"


def _pattern(wanted: str, between: str) -> re.Pattern[str]:
    """Write a pattern for a normalised quote."""
    return re.compile(
        between.join(_index(wanted, at) or _character(wanted, at) for at in range(len(wanted)))
    )


def _character(wanted: str, at: int) -> str:
    """Match a character of a quote; a hyphen also as one at the end of a line."""
    character = wanted[at]
    before, behind = wanted[at - 1 : at], wanted[at + 1 : at + 2]
    if character == "-":
        return f"(?:-|{_BREAK})"
    if character == _BREAK:
        return f"(?:-|{_BREAK})?"
    if character in " \t":
        # Two cells with figures are not one number with groups of three.
        one_number = _GROUP_END.search(wanted[:at]) and _GROUP.match(wanted, at + 1)
        return character if one_number else "[ \t]"
    if character in "\"'" and not before.isdigit() and not (before.isalpha() and behind.isalpha()):
        return "[\"']"  # a quote within a quote is written with the other marks
    if character in _MARKS_OF_EMPHASIS and not _LONG_RUN.search(wanted[max(0, at - 3) : at + 4]):
        # Its other half may lie outside the quote.
        return f"(?:{re.escape(character)}|(?<={_HIDDEN}))"
    return re.escape(character)


_FENCED: Final = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*\n(?s:.*?)(?:^ {0,3}\1|\Z)", re.MULTILINE)
_MARKUP: Final = re.compile(
    r"(?P<blank>\n[ \t]*\n)|(?P<escape>\\[!-/:-@\[-`{-~])|(?P<run>\*+|_+|`+|~+)"
    r"|(?P<open>(?<!!)\[)|(?P<link>\]\([^()\s]{0,2000}(?:[ ]\"[^\"\n]{0,200}\")?\))"
    r"|(?P<quoted>(?<=\n)[ ]{0,3}>[ >]*)"
)
_MOST_RUN: Final = 3


def _with_hidden(text: str) -> str:
    """Put as many signs that stand for hidden ones in the place of what Markdown hides."""
    hidden: list[tuple[int, int]] = []
    at = 0
    for block in (*_FENCED.finditer(text), None):
        end = block.start() if block is not None else len(text)
        hidden += _hidden_in(text, at, end)
        at = block.end() if block is not None else end
    parts: list[str] = []
    at = 0
    for start, end in sorted(hidden):
        sign = _ADDRESS if text[start] == "]" else _HIDDEN
        parts += (text[at:start], sign * (end - start))
        at = end
    return "".join((*parts, text[at:]))


def _hidden_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where signs stand that Markdown hides; emphasis and links end with a paragraph."""
    opened: dict[str, tuple[int, int]] = {}
    for found in _MARKUP.finditer(text, start, end):
        place = found.span()
        code = next((it for it in opened if it[0] == "`"), "")
        if found["blank"]:
            opened.clear()
        elif found["quoted"]:
            yield place
        elif code and found[0] != code:
            continue
        elif found["open"]:
            opened["["] = place
        elif found["link"] and "[" in opened:
            yield from (opened.pop("["), place)
        elif found["run"] and len(found[0]) <= _MOST_RUN:
            yield from _emphasis(text, found[0], place, opened)


def _emphasis(
    text: str, run: str, place: tuple[int, int], opened: dict[str, tuple[int, int]]
) -> tuple[tuple[int, int], ...]:
    """Return where a run of marks and that which it closes stand; else note that it may open."""
    before, behind = text[place[0] - 1 : place[0]], text[place[1] : place[1] + 1]
    if run in opened and not before.isspace() and not behind.isalnum():
        return opened.pop(run), place
    if behind and not behind.isspace() and not before.isalnum():
        opened[run] = place
    return ()


def _is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether no word and no number goes on beyond the ends of a find."""
    before = _seen(text[max(0, start - 20) : start])[-5:].rjust(5, _EDGE)
    after = _seen(text[end : end + 20])[:5].ljust(5, _EDGE)
    first, last = text[start], text[end - 1]
    if _joins(before[-1], first):
        return False
    if _joins(last, after[0]) and not (
        after[0] in _RAISED and _BEFORE_NOTE.search(text, max(0, end - 20), end)
    ):
        return False
    if _linked(before[-2], before[-1], first) or _linked(last, after[0], after[1]):
        return False
    return not (
        (
            (first.isdigit() or _FRACTION.match(first))
            and _is_of_number_before(before, text[start : start + 4])
        )
        or (last.isdigit() and _is_of_number_after(text[max(0, end - 4) : end], after))
    )


def _seen(text: str) -> str:
    """Leave out what Markdown hides."""
    return text.replace(_HIDDEN, "").replace(_ADDRESS, "")


def _joins(one: str, other: str) -> bool:
    """Whether two characters belong to one word."""
    return _is_of_word(one) and _is_of_word(other)


def _is_of_word(character: str) -> bool:
    return (
        character.isalnum()
        or character in {"_", _BREAK}
        or unicodedata.category(character) in {"Mn", "Mc", "Me", "Cf"}
    )


def _linked(one: str, between: str, other: str) -> bool:
    """Whether a sign such as a hyphen makes one word or number of what stands around it."""
    return between in "-'.@/" and one.isalnum() and other.isalnum()


def _is_of_number_before(before: str, first: str) -> bool:
    """Whether a number begins before its first digits, which are the first of a find."""
    mark, further = before[-1], before[-2]
    if mark in _WITHIN_NUMBERS and (further.isdigit() or (mark in ".," and not further.isalnum())):
        return True
    if mark in _UNITS or mark in _SIGNS or _SIGN_BEFORE.search(before):
        return True
    if mark == " " and further.isdigit() and _FRACTION.match(first):
        return True
    return bool(_GROUP_BEFORE.search(before) and _GROUP.match(first))


def _is_of_number_after(last: str, after: str) -> bool:
    """Whether a number goes on behind its last digits, which are the last of a find."""
    mark, further = after[0], after[1]
    if mark in _WITHIN_NUMBERS + "\u2013^\u207a\u207b" and further.isdigit():
        return True
    if mark == " " and _FRACTION.match(after[1:]):
        return True
    if mark in _UNITS or (mark == " " and further in _UNITS and not after[2].isdigit()):
        return True
    return bool(_GROUP_END.search(last) and _GROUP.match(after[1:]) and mark == " ")


def _original(at: int, ours: Sequence[int], theirs: Sequence[int]) -> int:
    piece = bisect.bisect_right(ours, at) - 1
    return theirs[piece] + at - ours[piece]


def _same_sentence_before(text: str) -> str:
    """Return what of the text before a quote belongs to its sentence, or introduces it."""
    ends = [it.end() for it in _SENTENCE_END.finditer(text)]
    rest = text[ends[-1] :] if ends else text
    if rest.strip(_LIST_MARKS):
        return rest
    line = text.rstrip(_LIST_MARKS).rpartition("\n")[2]
    return line if line.endswith(":") or not _other_words(line) else rest


def _same_sentence_behind(text: str) -> str:
    """Return what of the text behind a quote belongs to its sentence, or names its place alone."""
    end = _SENTENCE_END.search(text)
    if end is None:
        return text
    rest = text[end.end() :].lstrip()
    next_end = _SENTENCE_END.search(rest)
    following = rest[: next_end.start() + 1] if next_end else rest
    is_place = following.rstrip().endswith((".", ")", "]")) and _other_words(following) <= 2
    return text if is_place or rest.startswith(("(", "[")) else text[: end.start() + 1]


def _other_words(text: str) -> int:
    """Count the words that name neither a place nor a file."""
    return len(_WORD.findall(_PLACE.sub(" ", _FILE_NAME.sub(" ", text))))


def _numbers(text: str) -> dict[_Counted, set[int]]:
    """Return the numbers of the places that a text names, by what it counts with them."""
    found: dict[_Counted, set[int]] = {}
    for place in _PLACE.finditer(text):
        numbers = found.setdefault("section" if place["section"] else "page", set())
        for part in _RANGE.finditer(place[2]):
            first = int(part[1])
            last = min(int(part[2] or first), first + _MOST_PLACES)
            numbers.update(range(first, last + 1))
    for place in _BEHIND_NAME.finditer(text):
        found.setdefault("page", set()).add(int(place[1]))
    for place in _NTH_PLACE.finditer(text):
        word = place["word"].casefold() if place["word"] else ""
        number = [int(place[1])] if place[1] else [n for n, it in enumerate(_NTH, 1) if word in it]
        if number:
            found.setdefault("page", set()).update(number)
    return found
